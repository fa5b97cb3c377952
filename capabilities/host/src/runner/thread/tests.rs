use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use capability_core::approval::{DigestKey, HistoryEntry};
use capability_core::audit::MemorySink;
use capability_core::executor::{Ended, Executor, Outcome, Parts, Proposal, Setup};
use capability_core::registry::Registry;
use capability_core::session::{Declarations, Mode, Origin, Session, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::store::{MemoryApprovals, MemoryOptIns, MemoryTurns};
use capability_core::{Code, capability};

use super::ThreadRunner;
use crate::broker::{HostBroker, machine};
use crate::environment::HostEnvironment;
use crate::store::Database;
use crate::store::sqlite::JournalEntry;

/// Sleeps without awaiting.
#[capability(name = "fixture.block", version = 1, side_effect = read_only, network = local, bounds(timeout = "300ms", per_turn = 1000))]
fn block(
    /// How long.
    millis: u32,
) -> String {
    std::thread::sleep(Duration::from_millis(millis.into()));
    "slept".to_owned()
}

/// Sleeps and awaits.
#[capability(name = "fixture.wait", version = 1, side_effect = read_only, network = local, bounds(timeout = "300ms", per_turn = 1000))]
async fn wait(
    /// How long.
    millis: u32,
) -> String {
    static HELD: AtomicU32 = AtomicU32::new(0);
    HELD.fetch_add(1, Ordering::AcqRel);
    tokio::time::sleep(Duration::from_millis(millis.into())).await;
    "waited".to_owned()
}

/// Panics, at once or behind the body's back.
#[capability(name = "fixture.panic", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
async fn panic(
    /// Where.
    behind: bool,
) -> String {
    if behind {
        drop(tokio::spawn(async { panic!("behind") }));
        tokio::task::yield_now().await;
        return "went on".to_owned();
    }
    panic!("at once")
}

/// The machine and a note about it.
#[capability(name = "fixture.note", version = 1, side_effect = read_only, network = local, bounds(timeout = "5s", per_turn = 1000))]
async fn note(
    clock: &capability_core::Clock,
    device: &capability_core::Device,
    journal: &capability_core::Journal,
) -> Result<bool, capability_core::Failure> {
    let now = clock.now().await?;
    let readings = device.readings().await?;
    journal.append(format!("noted at {now}")).await?;
    Ok(readings.cpus.is_some())
}

struct Bench {
    executor: Executor,
    session: Session,
    runner: Arc<ThreadRunner>,
    database: Database,
    _dir: tempfile::TempDir,
}

fn bench(threads: u32) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open(&dir.path().join("state.db")).unwrap();
    let environment = Arc::new(HostEnvironment::new().unwrap());
    let runner = Arc::new(ThreadRunner::new(threads));
    let device = machine(dir.path(), Vec::new());
    let Parts { executor, sessions, .. } = Executor::build(Setup {
        registry: Registry::collect(&["capability-host", "capabilities"]).unwrap(),
        runner: Arc::clone(&runner) as _,
        broker: Arc::new(HostBroker::new(Arc::clone(&environment) as _, device, database.journal())),
        sink: Arc::new(MemorySink::new()),
        approvals: Arc::new(MemoryApprovals::new()),
        turns: Arc::new(MemoryTurns::new()),
        opt_ins: Arc::new(MemoryOptIns::new()),
        grants: Arc::new(capability_core::store::MemoryGrants::new()),
        grant_limits: capability_core::approval::GrantLimits::off(),
        history: Arc::new(capability_core::store::MemoryHistory::new()),
        policy: Arc::new(capability_core::policy::MemoryPolicy::new()),
        providers: Arc::new(capability_core::provider::NoProviders),
        environment,
        key: DigestKey::new([1; 32]),
        limits: capability_core::executor::Limits { per_turn: 1000, ..Default::default() },
    });
    let identity = SessionIdentity {
        id: SessionId::from_bytes([1; 16]),
        subject: Subject::local(),
        mode: Mode::Live,
        origin: Origin::Terminal,
        turn: TurnId(1),
    };
    let session = sessions.open(identity, Declarations::everything());
    Bench { executor, session, runner, database, _dir: dir }
}

impl Bench {
    fn invoke(&self, name: &str, arguments: &str) -> tokio::task::JoinHandle<Outcome> {
        let (executor, session) = (self.executor.clone(), self.session.clone());
        let proposal = Proposal::new(name, 1, arguments);
        tokio::spawn(async move { executor.invoke(&session, proposal).await })
    }

    /// Waits until every slot is free again.
    async fn idle(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.runner.taken() > 0 {
            assert!(Instant::now() < until, "{} slots stay taken", self.runner.taken());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn is(outcome: &Outcome, code: Code) -> bool {
    matches!(outcome.ended(), Ended::Rejected(refusal) if refusal.code == code)
}

/// On one async thread: a body that sleeps for 5 s neither delays others nor its own caller's deadline.
#[tokio::test]
async fn a_blocking_body_stalls_nobody() {
    let bench = bench(8);
    let begun = Instant::now();
    let slow = bench.invoke("fixture.block", r#"{"millis":5000}"#);
    while bench.runner.taken() == 0 {
        tokio::task::yield_now().await;
    }
    let quick = bench.invoke("fixture.block", r#"{"millis":1}"#).await.unwrap();
    assert!(matches!(quick.ended(), Ended::Executed { .. }), "{quick:?}");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(matches!(slow.await.unwrap().ended(), Ended::TimedOut));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    // It goes on behind, and its slot stays taken until it ends.
    assert_eq!(bench.runner.taken(), 1);
    bench.idle().await;
    assert!(begun.elapsed() >= Duration::from_secs(5));
}

#[tokio::test]
async fn a_saturated_runner_refuses() {
    let bench = bench(2);
    let slow = [0, 1].map(|_| bench.invoke("fixture.block", r#"{"millis":1000}"#));
    for running in slow {
        assert!(matches!(running.await.unwrap().ended(), Ended::TimedOut));
    }
    assert_eq!(bench.runner.taken(), 2);
    let refused = bench.invoke("fixture.wait", r#"{"millis":0}"#).await.unwrap();
    assert!(is(&refused, Code::RunnerSaturated), "{refused:?}");
    bench.idle().await;
    let served = bench.invoke("fixture.wait", r#"{"millis":0}"#).await.unwrap();
    assert!(matches!(served.ended(), Ended::Executed { .. }), "{served:?}");
}

#[tokio::test]
async fn an_awaiting_body_ends_at_its_deadline_or_with_its_session() {
    let bench = bench(4);
    let late = bench.invoke("fixture.wait", r#"{"millis":60000}"#).await.unwrap();
    assert!(matches!(late.ended(), Ended::TimedOut), "{late:?}");
    bench.idle().await;
    let running = bench.invoke("fixture.wait", r#"{"millis":60000}"#);
    tokio::time::sleep(Duration::from_millis(50)).await;
    bench.session.end();
    assert!(matches!(running.await.unwrap().ended(), Ended::Cancelled));
    bench.idle().await;
}

#[tokio::test]
async fn a_panic_ends_its_own_call_only() {
    let bench = bench(1);
    for _ in 0..3 {
        let outcome = bench.invoke("fixture.panic", r#"{"behind":false}"#).await.unwrap();
        assert!(matches!(outcome.ended(), Ended::Panicked), "{outcome:?}");
        bench.idle().await;
    }
    let outcome = bench.invoke("fixture.panic", r#"{"behind":true}"#).await.unwrap();
    assert!(matches!(outcome.ended(), Ended::Executed { .. }), "{outcome:?}");
}

/// The handles that the host's broker serves work from a body's own thread.
#[tokio::test]
async fn handles_work_on_threads() {
    let bench = bench(4);
    let outcome = bench.invoke("fixture.note", "{}").await.unwrap();
    assert!(matches!(outcome.ended(), Ended::Executed { result } if &**result == "true"), "{outcome:?}");
    let entries = bench.database.journal().newest(&Subject::local(), 10).await.unwrap();
    let noted = |entry: &JournalEntry| matches!(&entry.entry, HistoryEntry::Subject { text, .. } if text.starts_with("noted at 20"));
    assert!(entries.len() == 1 && entries.iter().all(noted), "{entries:?}");
}
