//! An executor over the durable stores: at most one run per approval, whatever happens to the file, and no row that runs
//! what policy refuses.

use core::num::NonZeroU32;
use core::time::Duration;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use capability_core::approval::{ApprovalId, DigestKey, GrantLimit, GrantLimits, Operator, OperatorMint};
use capability_core::audit::MemorySink;
use capability_core::executor::{Ended, Executor, InlineRunner, Limits, Parts, Proposal, Setup};
use capability_core::registry::Registry;
use capability_core::session::{Declarations, Mode, Origin, Session, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::store::{Answer, MemoryOptIns, MemoryTurns};
use capability_core::{Code, capability};
use rusqlite::{Connection, params};

use crate::broker::{HostBroker, machine};
use crate::environment::HostEnvironment;
use crate::store::sqlite::{Database, DatabaseError};

static MARKS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// A number that no other test marks.
fn number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

fn runs_of(number: u64) -> usize {
    MARKS.lock().unwrap().iter().filter(|mark| **mark == number).count()
}

/// Leaves a mark.
#[capability(name = "desk.mark", version = 1, side_effect = mutating, network = local, bounds(per_turn = 1000))]
fn mark(
    /// Which.
    number: u64,
) {
    MARKS.lock().unwrap().push(number);
}

/// Looks, and asks first.
#[capability(name = "desk.look", version = 1, side_effect = read_only, network = local, default = ask, bounds(per_turn = 1000))]
fn look(
    /// At what.
    number: u64,
) {
    MARKS.lock().unwrap().push(number);
}

/// Exists to be named.
#[capability(name = "desk.vault", version = 1, side_effect = mutating, network = local, locked)]
fn vault(
    /// Which.
    number: u64,
);

struct Desk {
    executor: Executor,
    session: Session,
    operators: OperatorMint,
    sink: Arc<MemorySink>,
}

fn desk(dir: &Path) -> Desk {
    desk_on(&Database::open(&dir.join("state.db")).unwrap(), dir)
}

fn desk_on(database: &Database, dir: &Path) -> Desk {
    let environment = Arc::new(HostEnvironment::new().unwrap());
    let sink = Arc::new(MemorySink::new());
    let device = machine(dir, Vec::new());
    let limit = GrantLimit { longest: Duration::from_secs(600), uses: NonZeroU32::new(100).unwrap() };
    let Parts { executor, sessions, operators } = Executor::build(Setup {
        registry: Registry::collect(&["capability-host", "capabilities"]).unwrap(),
        runner: Arc::new(InlineRunner),
        broker: Arc::new(HostBroker::new(Arc::clone(&environment) as _, device, database.journal())),
        sink: Arc::clone(&sink) as _,
        approvals: Arc::new(database.approvals()),
        turns: Arc::new(MemoryTurns::new()),
        opt_ins: Arc::new(MemoryOptIns::new()),
        policy: Arc::new(capability_core::policy::MemoryPolicy::new()),
        providers: Arc::new(capability_core::provider::NoProviders),
        grants: Arc::new(database.grants()),
        grant_limits: ["desk.look", "desk.mark", "desk.vault"]
            .into_iter()
            .fold(GrantLimits::off(), |limits, name| limits.with(name, limit)),
        history: Arc::new(database.journal()),
        environment,
        key: DigestKey::new([1; 32]),
        limits: Limits { per_turn: 100_000, ..Limits::default() },
    });
    let identity = SessionIdentity {
        id: SessionId::from_bytes([1; 16]),
        subject: Subject::local(),
        mode: Mode::Live,
        origin: Origin::Terminal,
        turn: TurnId(1),
    };
    let session = sessions.open(identity, Declarations::everything());
    Desk { executor, session, operators, sink }
}

impl Desk {
    fn operator(&self) -> Operator {
        self.operators.admit(Subject::local())
    }

    async fn code(&self, name: &str, number: u64) -> Option<Code> {
        let arguments = format!(r#"{{"number":{number}}}"#);
        self.executor.invoke(&self.session, Proposal::new(name, 1, arguments)).await.code()
    }

    async fn pending(&self, name: &str, number: u64) -> ApprovalId {
        let arguments = format!(r#"{{"number":{number}}}"#);
        let outcome = self.executor.invoke(&self.session, Proposal::new(name, 1, arguments)).await;
        outcome.approval().unwrap_or_else(|| panic!("{outcome:?}"))
    }

    async fn approve(&self, id: ApprovalId) {
        self.executor.answer(&self.operator(), id, Answer::Approve).await.unwrap();
    }

    async fn resume(&self, id: ApprovalId) -> Result<(), Option<Code>> {
        let outcome = self.executor.resume(&self.session, id).await;
        if matches!(outcome.ended(), Ended::Executed { .. }) { Ok(()) } else { Err(outcome.code()) }
    }
}

/// Where fsync costs nothing, where there is such a place: what is counted here are races, not disks.
fn quick_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// An answer and forty resumes at once, two hundred and fifty times, which are ten thousand races for a run: each approval
/// runs once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_races_run_nothing_twice() {
    let dir = quick_dir();
    let desk = Arc::new(desk(dir.path()));
    let numbers: Vec<_> = (0..250).map(|_| number()).collect();
    for number in &numbers {
        let id = desk.pending("desk.mark", *number).await;
        let racing: Vec<_> = (0..41)
            .map(|racer| {
                let desk = Arc::clone(&desk);
                tokio::spawn(async move {
                    match racer {
                        7 => desk.approve(id).await,
                        _ => drop(desk.resume(id).await),
                    }
                })
            })
            .collect();
        for racer in racing {
            racer.await.unwrap();
        }
        // Nobody may have come after the answer.
        let _ = desk.resume(id).await;
        assert_eq!(desk.resume(id).await, Err(Some(Code::ApprovalConsumed)), "{number}");
        assert_eq!(runs_of(*number), 1, "{number}");
    }
}

fn tamper(dir: &Path, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<usize> {
    Connection::open(dir.join("state.db"))?.execute(sql, params)
}

/// Somebody who can write the database writes what he likes: what is locked stays locked, what was approved for one call
/// runs no other, and what he calls a grant is none.
#[tokio::test]
async fn rows_that_somebody_else_wrote_run_nothing_that_policy_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let desk = desk(dir.path());
    let (asked, other) = (number(), number());
    let id = desk.pending("desk.look", asked).await;
    // An approved row for what is locked.
    let forged = "UPDATE approvals SET status = 'approved', content = replace(content, 'desk.look', 'desk.vault'),
                  summary = replace(summary, 'desk.look', 'desk.vault') WHERE id = ?1";
    assert_eq!(tamper(dir.path(), forged, [id.to_string()]), Ok(1));
    assert_eq!(desk.resume(id).await, Err(Some(Code::Locked)));
    // The same with everything that a row could say of a grant.
    let generous = "UPDATE approvals SET status = 'pending', content = json_set(content, '$.verdict', 'ask', '$.grant',
                    json('{\"seconds\":600,\"uses\":100}')) WHERE id = ?1";
    assert_eq!(tamper(dir.path(), generous, [id.to_string()]), Ok(1));
    let limit = GrantLimit { longest: Duration::from_secs(1), uses: NonZeroU32::MIN };
    assert!(desk.executor.grant(&desk.operator(), id, limit).await.is_err());
    // An approved row whose call was exchanged.
    let id = desk.pending("desk.look", asked).await;
    desk.approve(id).await;
    let exchanged = "UPDATE approvals SET content = replace(content, ?2, ?3) WHERE id = ?1";
    let (from, to) = (format!(r#"\"number\":{asked}"#), format!(r#"\"number\":{other}"#));
    assert_eq!(tamper(dir.path(), exchanged, params![id.to_string(), from, to]), Ok(1));
    assert_eq!(desk.resume(id).await, Err(Some(Code::ApprovalMismatch)));
    // A row that names another capability of the same arguments, which nobody was asked about.
    let renamed = "UPDATE approvals SET content = replace(content, 'desk.look', 'desk.mark') WHERE id = ?1";
    assert_eq!(tamper(dir.path(), renamed, [id.to_string()]), Ok(1));
    assert_eq!(desk.resume(id).await, Err(Some(Code::ApprovalMismatch)));
    // A grant that nobody gave, and one whose uses were raised.
    let id = desk.pending("desk.look", asked).await;
    let limit = GrantLimit { longest: Duration::from_secs(60), uses: NonZeroU32::MIN };
    let given = desk.executor.grant(&desk.operator(), id, limit).await.unwrap();
    assert_eq!(desk.code("desk.look", asked).await, None);
    assert_eq!(runs_of(asked), 1);
    let copied = "INSERT INTO grants (id, description, expires_at, max_uses)
                  SELECT ?1, replace(description, ?2, ?1), expires_at, 1000 FROM grants WHERE id = ?2";
    assert_eq!(tamper(dir.path(), copied, params!["ab".repeat(16), given.id.to_string()]), Ok(1));
    let revived = "UPDATE grants SET ended = NULL, ended_at = NULL, used = 0, max_uses = 1000 WHERE id = ?1";
    assert_eq!(tamper(dir.path(), revived, [given.id.to_string()]), Ok(1));
    desk.pending("desk.look", asked).await;
    // A status that does not exist is refused by the file itself, and what cannot be read runs nothing.
    assert!(tamper(dir.path(), "UPDATE approvals SET status = 'granted'", []).is_err());
    let id = desk.pending("desk.look", asked).await;
    desk.approve(id).await;
    assert_eq!(tamper(dir.path(), "UPDATE approvals SET content = 'no JSON' WHERE id = ?1", [id.to_string()]), Ok(1));
    assert_eq!(desk.resume(id).await, Err(Some(Code::StoreUnavailable)));
    assert_eq!((runs_of(asked), runs_of(other)), (1, 0));
    assert!(!desk.sink.lines().contains("replace"));
}

/// Another process holds the file: a refusal that says so, in bounded time, and nothing runs; afterwards all is as before.
#[tokio::test]
async fn a_locked_database_refuses_and_runs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let desk = desk(dir.path());
    let marked = number();
    let id = desk.pending("desk.mark", marked).await;
    desk.approve(id).await;
    let other = Connection::open(dir.path().join("state.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = std::time::Instant::now();
    assert_eq!(desk.resume(id).await, Err(Some(Code::StoreUnavailable)));
    assert_eq!(desk.code("desk.mark", marked).await, Some(Code::StoreUnavailable));
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(runs_of(marked), 0);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(desk.resume(id).await, Ok(()));
    assert_eq!(runs_of(marked), 1);
}

/// A damaged file is not opened: what was approved in it does not run, and whoever starts the host is told what to do.
#[tokio::test]
async fn a_damaged_database_refuses_and_runs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let marked = number();
    {
        let desk = desk(dir.path());
        let id = desk.pending("desk.mark", marked).await;
        desk.approve(id).await;
    }
    let mut bytes = std::fs::read(&path).unwrap();
    let (_, pages) = bytes.split_at_mut(4096);
    pages.fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    let error = Database::open(&path).unwrap_err();
    assert!(matches!(error, DatabaseError::Corrupt { .. }) && error.to_string().contains("help:"), "{error}");
    assert_eq!(runs_of(marked), 0);
}

/// A real file system without room: what cannot be stored is refused, and what is stored goes on once there is room.
#[tokio::test]
async fn a_full_file_system_refuses_and_runs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m,mode=0700", "none"])
        .arg(dir.path())
        .stderr(std::process::Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        // Without the right to mount, a locked and a damaged file show what a refusal of the store does.
        return;
    }
    struct Unmount<'a>(&'a Path);
    impl Drop for Unmount<'_> {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg("-l").arg(self.0).status();
        }
    }
    let _unmount = Unmount(dir.path());
    let desk = desk(dir.path());
    let marked = number();
    let id = desk.pending("desk.mark", marked).await;
    let ballast = dir.path().join("ballast");
    let mut filler = std::fs::File::create(&ballast).unwrap();
    while std::io::Write::write(&mut filler, &[0; 512]).is_ok_and(|written| written > 0) {}
    // The write-ahead log may still have room for a page or two: questions are asked until it has none.
    let mut refused = false;
    for _ in 0..40 {
        if let Some(code) = desk.code("desk.mark", marked).await {
            assert_eq!(code, Code::StoreUnavailable);
            refused = true;
            break;
        }
    }
    assert!(refused, "a full file system takes everything");
    assert!(desk.executor.answer(&desk.operator(), id, Answer::Approve).await.is_err());
    assert_eq!(runs_of(marked), 0);
    drop(filler);
    std::fs::remove_file(&ballast).unwrap();
    desk.approve(id).await;
    assert_eq!(desk.resume(id).await, Ok(()));
    assert_eq!((runs_of(marked), desk.resume(id).await), (1, Err(Some(Code::ApprovalConsumed))));
}
