//! A host that is killed at any point between a question and its run leaves at most one run of each approval.
//!
//! The child goes through one question, its answer, and its run, over the durable stores and the durable log, and kills
//! itself with SIGKILL at its n-th step, for every n there is: before and after each call of a store, each record, and the
//! effect itself. The next start goes on where that left off.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use capability_core::approval::{
    ApprovalId, ApprovalStatus, ApprovalSummary, DenialLoop, DigestKey, Filed, InvocationDigest, OperatorMint, PastCall,
};
use capability_core::audit::{Record, Sink, Submission};
use capability_core::executor::{Ended, InlineRunner, Parts, Setup};
use capability_core::session::{Declarations, Mode, Session, Subject};
use capability_core::store::{Answer, Approvals, Filing, Found, Instead, MemoryTurns, Moved, StoreFault};
use capability_core::{BoxFuture, Code, Executor, Outcome, Registry, Timestamp, capability};
use capability_host::audit_log::{AuditLog, verify};
use capability_host::store::Database;
use capability_host::store::sqlite::SqliteApprovals;
use serde_json::json;

use crate::fixtures::bench::{ROOMY, identity, proposal};
use crate::fixtures::parts::{Bindings, Switch};

const DIR: &str = "CAPABILITY_TEST_KILLS_DIR";
const AT: &str = "CAPABILITY_TEST_KILLS_AT";
const WHAT: &str = "CAPABILITY_TEST_KILLS_WHAT";

static STEP: AtomicU64 = AtomicU64::new(0);

/// One step of the child: its last, when it is the one that was asked for.
fn step() {
    let Some(at) = std::env::var(AT).ok().and_then(|at| at.parse::<u64>().ok()) else { return };
    if STEP.fetch_add(1, Ordering::SeqCst) + 1 == at {
        let own = rustix::process::getpid();
        let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}

/// Leaves one line in a file: what cannot be undone.
#[capability(name = "survival.mark", version = 1, side_effect = mutating, network = local)]
fn mark(text: String) {
    step();
    let path = PathBuf::from(std::env::var_os(DIR).expect("the child's directory")).join("effects");
    let mut effects = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("it opens");
    effects.write_all(format!("{text}\n").as_bytes()).expect("it is written");
    effects.sync_all().expect("it is durable");
    step();
}

struct SteppingLog(AuditLog);

impl Sink for SteppingLog {
    fn submit(&self, record: Record) -> Submission {
        step();
        let submitted = self.0.submit(record);
        step();
        // Waited for here, so that the step after it is one after its record is durable.
        match submitted {
            Submission::Later(answer) => {
                let answer = std::thread::spawn(move || answer.blocking_recv()).join();
                step();
                Submission::Done(answer.ok().and_then(Result::ok).unwrap_or(Err(capability_core::audit::SinkFault)))
            }
            done => done,
        }
    }
}

struct SteppingApprovals(SqliteApprovals);

impl SteppingApprovals {
    fn stepping<'a, T: Send + 'a>(&'a self, inner: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
        Box::pin(async move {
            step();
            let answer = inner.await;
            step();
            answer
        })
    }
}

impl Approvals for SteppingApprovals {
    fn file(&self, filed: Filed) -> BoxFuture<'_, Result<Filing, StoreFault>> {
        self.stepping(self.0.file(filed))
    }

    fn find(&self, id: ApprovalId) -> BoxFuture<'_, Result<Option<Found>, StoreFault>> {
        self.stepping(self.0.find(id))
    }

    fn open(&self) -> BoxFuture<'_, Result<Vec<ApprovalSummary>, StoreFault>> {
        self.stepping(self.0.open())
    }

    fn answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        operator: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        self.stepping(self.0.answer(id, answer, operator, now))
    }

    fn consume(
        &self,
        id: ApprovalId,
        digest: InvocationDigest,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        self.stepping(self.0.consume(id, digest, now))
    }

    fn expire_due(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<ApprovalId>, StoreFault>> {
        self.stepping(self.0.expire_due(now))
    }

    fn withdraw(&self, id: ApprovalId) -> BoxFuture<'_, Result<(), StoreFault>> {
        self.stepping(self.0.withdraw(id))
    }

    fn supersede(
        &self,
        id: ApprovalId,
        instead: Instead,
        operator: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        self.stepping(self.0.supersede(id, instead, operator, now))
    }

    fn denial_loops(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<DenialLoop>, StoreFault>> {
        self.0.denial_loops(now)
    }

    fn clear_denials(&self, subject: &Subject) -> BoxFuture<'_, Result<usize, StoreFault>> {
        self.0.clear_denials(subject)
    }

    fn last_approved(
        &self,
        subject: &Subject,
        capability: &str,
        version: core::num::NonZeroU32,
    ) -> BoxFuture<'_, Result<Option<PastCall>, StoreFault>> {
        self.0.last_approved(subject, capability, version)
    }

    fn past_calls(&self, capability: &str, limit: u32) -> BoxFuture<'_, Result<Vec<PastCall>, StoreFault>> {
        self.0.past_calls(capability, limit)
    }

    fn erase_retained(&self, subject: Option<&Subject>) -> BoxFuture<'_, Result<usize, StoreFault>> {
        self.0.erase_retained(subject)
    }
}

struct Host {
    executor: Executor,
    session: Session,
    operators: OperatorMint,
    approvals: SqliteApprovals,
}

/// As a host starts, over whatever an earlier one left.
fn start(dir: &Path) -> Host {
    let database = Database::open(&dir.join("state.db")).expect("it opens, whatever happened");
    let (log, _) = AuditLog::open(&dir.join("audit")).expect("it opens, whatever happened");
    let Parts { executor, sessions, operators } = Executor::build(Setup {
        registry: Registry::collect(&["capability-tests", "capabilities"]).expect("fit to start"),
        runner: Arc::new(InlineRunner),
        broker: Arc::new(Bindings::default()),
        sink: Arc::new(SteppingLog(log)),
        approvals: Arc::new(SteppingApprovals(database.approvals())),
        turns: Arc::new(MemoryTurns::new()),
        opt_ins: Arc::new(Switch::default()),
        policy: Arc::new(capability_core::policy::MemoryPolicy::new()),
        providers: Arc::new(capability_core::provider::NoProviders),
        grants: Arc::new(database.grants()),
        grant_limits: capability_core::approval::GrantLimits::off(),
        history: Arc::new(database.journal()),
        environment: Arc::new(Now),
        key: DigestKey::new([7; 32]),
        limits: ROOMY,
    });
    let subject = "survivor".parse().expect("plain");
    let session = sessions.open(identity(&subject, 1, Mode::Live, 1), Declarations::everything());
    Host { executor, session, operators, approvals: database.approvals() }
}

/// A clock that goes on from start to start.
struct Now;

impl capability_core::Environment for Now {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        Timestamp::from_micros(i64::try_from(since.as_micros()).expect("before the end of time"))
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        let mut random = std::fs::File::open("/dev/urandom").expect("there is randomness");
        std::io::Read::read_exact(&mut random, bytes).expect("it gives");
    }
}

/// The child: one question, answered or changed, and run. Does nothing as a test.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let host = start(Path::new(&dir));
        let asked = host.executor.invoke(&host.session, proposal("survival.mark", &json!({ "text": "asked" }))).await;
        let id = asked.approval().expect("it asks");
        let operator = host.operators.admit(Subject::local());
        let id = if std::env::var(WHAT).as_deref() == Ok("edit") {
            let edited = host.executor.edit(&operator, &host.session, id, r#"{"text":"changed"}"#).await;
            edited.expect("it waits").successor().expect("it is approved")
        } else {
            host.executor.answer(&operator, id, Answer::Approve).await.expect("it waits");
            id
        };
        let done = host.executor.resume(&host.session, id).await;
        assert!(matches!(done.ended(), Ended::Executed { .. }), "{done:?}");
        println!("\nended");
    });
}

/// Kills one child at its n-th step, and says whether it came to its end before.
fn killed(dir: &Path, what: &str, at: u64) -> bool {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "kills::child", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .env(AT, at.to_string())
        .env(WHAT, what)
        .stderr(Stdio::null())
        .output()
        .expect("it starts");
    String::from_utf8_lossy(&output.stdout).lines().any(|line| line == "ended")
}

fn ran(outcome: &Outcome) -> bool {
    matches!(outcome.ended(), Ended::Executed { .. })
}

#[test]
fn a_host_killed_at_every_step_runs_each_approval_at_most_once() {
    // This process is the next start of each: it counts no steps, and leaves its marks beside the child's.
    let root = tempfile::tempdir().expect("a directory");
    let (mut points, mut met) = (0, std::collections::BTreeMap::<&str, u32>::new());
    for what in ["approve", "edit"] {
        for at in 1.. {
            assert!(at < 500, "the child never comes to its end");
            let dir = root.path().join(format!("{what}-{at}"));
            std::fs::create_dir(&dir).expect("a directory");
            std::fs::set_permissions(&dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("closed");
            let ended = killed(&dir, what, at);
            let before = marks(&dir);
            assert!(before.len() <= 1, "{what} {at}: {before:?}");
            let after = go_on(&dir);
            let marks = marks(&dir);
            assert!(marks.len() <= 1, "{what} {at}: {before:?}, and then {marks:?}");
            assert!(marks.iter().all(|mark| mark == if what == "edit" { "changed" } else { "asked" }), "{marks:?}");
            *met.entry(after).or_default() += 1;
            let report = verify(&dir.join("audit")).expect("it can be read");
            assert!(matches!(report.exit_code(), 0 | 3), "{what} {at}: {report}");
            if ended {
                assert_eq!(marks.len(), 1, "{what} {at}");
                break;
            }
            points += 1;
        }
    }
    // Kills met every state there is.
    assert!(points > 60, "{points}");
    for state in ["nothing", "pending", "approved", "consumed"] {
        assert!(met.contains_key(state), "{met:?}");
    }
}

fn marks(dir: &Path) -> Vec<String> {
    let effects = std::fs::read_to_string(dir.join("effects")).unwrap_or_default();
    effects.lines().map(str::to_owned).collect()
}

/// The next start: everything that waits or was answered is resumed, twice. Says where the newest of it stood.
fn go_on(dir: &Path) -> &'static str {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "kills::next", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stderr(Stdio::null())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let state = said.lines().find_map(|line| line.strip_prefix("found ")).unwrap_or_else(|| panic!("{said}"));
    ["nothing", "pending", "approved", "consumed", "superseded"]
        .into_iter()
        .find(|known| *known == state)
        .unwrap_or_else(|| panic!("{state}"))
}

/// The next start, in a process of its own. Does nothing as a test.
#[test]
fn next() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let dir = Path::new(&dir);
        let host = start(dir);
        let before = marks(dir).len();
        let open = host.approvals.open().await.expect("it answers");
        let mut state = if before > 0 { "consumed" } else { "nothing" };
        for summary in &open {
            state = summary.status.as_str();
            let first = host.executor.resume(&host.session, summary.id).await;
            assert_eq!(ran(&first), summary.status == ApprovalStatus::Approved, "{first:?}");
            let second = host.executor.resume(&host.session, summary.id).await;
            assert!(!ran(&second), "{second:?}");
            if summary.status == ApprovalStatus::Approved {
                assert_eq!(second.code(), Some(Code::ApprovalConsumed));
                assert_eq!(before, 0, "what ran is used up");
            }
        }
        println!("\nfound {state}");
    });
}
