//! Calls as an executor would make them, and a whole executor around workers.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use capability_core::approval::{DigestKey, OperatorMint};
use capability_core::audit::Sink;
use capability_core::contract::{Capability, Class};
use capability_core::executor::{BodyEnd, Limits, Parts, Runner, Setup};
use capability_core::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, HandleKind, Lease};
use capability_core::session::{Declarations, Mode, Origin, SessionId, SessionIdentity, SessionMint, Subject, TurnId};
use capability_core::store::{Answer, MemoryApprovals, MemoryOptIns, MemoryTurns};
use capability_core::{BoxFuture, Call, CallTerms, Executor, Proposal, Registry, registry};
use capability_host::broker::{Bound, HostBroker, Place, SystemResolver, machine};
use capability_host::environment::HostEnvironment;
use capability_host::runner::WorkerRunner;
use capability_host::store::Database;
use serde_json::json;

/// A broker of bodies that ask for nothing.
struct Nothing;

impl Broker for Nothing {
    fn serves(&self, _: HandleKind, _: Class) -> bool {
        false
    }

    fn serve(&self, _: &Lease, _: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        Box::pin(core::future::ready(Err(BrokerFault::Unserved)))
    }
}

fn identity(turn: u64) -> SessionIdentity {
    SessionIdentity {
        id: SessionId::from_bytes([1; 16]),
        subject: Subject::local(),
        mode: Mode::Live,
        origin: Origin::Model,
        turn: TurnId(turn),
    }
}

pub fn entry(name: &str) -> &'static Capability {
    registry::linked(name, 1).expect("it is linked")
}

/// The call of an executor, prepared or confirmed, with this long to go.
fn call(entry: &'static Capability, confirmed: bool, remaining: Duration) -> Call {
    let terms = json!({
        "invocation": format!("{:032x}", 7),
        "identity": identity(1),
        "target": null,
        "max_result": 4096,
        "confirmed": confirmed,
        "answered": false,
        "remaining": remaining,
    });
    serde_json::from_value::<CallTerms>(terms).expect("terms").call(entry, Arc::new(Nothing))
}

/// One call by a worker: how long it took from its preparation to its end, and how much of that its preparation.
pub async fn called(runner: &WorkerRunner, entry: &'static Capability, arguments: &[u8]) -> (Duration, Duration) {
    let five = Duration::from_secs(5);
    let (preparing, running) = (call(entry, false, five), call(entry, true, five));
    let begun = Instant::now();
    let prepared = runner.prepare(entry, arguments, &preparing).await.expect("it is prepared");
    let halfway = begun.elapsed();
    let end = runner.run(prepared, running).await;
    let took = begun.elapsed();
    assert!(matches!(end, BodyEnd::Result(_)), "{end:?}");
    (took, halfway)
}

/// Runs what does not end by itself with this long to go: how long it took from its start until its host says that it is dead.
pub async fn ended(runner: &WorkerRunner, entry: &'static Capability, arguments: &[u8], given: Duration) -> Duration {
    let preparing = call(entry, false, Duration::from_secs(5));
    let prepared = runner.prepare(entry, arguments, &preparing).await.expect("it is prepared");
    let running = call(entry, true, given);
    let begun = Instant::now();
    let end = runner.run(prepared, running).await;
    // A flood of output may reach its cap first.
    assert!(matches!(end, BodyEnd::TimedOut | BodyEnd::Panicked | BodyEnd::TooLarge), "{end:?}");
    begun.elapsed()
}

/// An executor over workers and the host's own broker. Approvals and counters are kept in memory: what is measured here is
/// the log and the worker.
pub struct Lab {
    executor: Executor,
    sessions: SessionMint,
    operators: OperatorMint,
}

impl Lab {
    pub fn new(dir: &Path, sink: Arc<dyn Sink>, listener: &TcpListener, runner: Arc<dyn Runner>) -> Self {
        let place = listener.local_addr().expect("an address").to_string();
        let workspace = std::fs::File::open(dir).expect("a directory");
        let bound = Bound {
            endpoints: core::iter::empty().collect(),
            authorities: None,
            allowed: vec![Place::of_authority(&place, 0).expect("a place")],
            workspace: Some(workspace.into()),
            secrets: None,
            mail: None,
            repositories: None,
            trees: std::collections::BTreeMap::new(),
            named_secrets: std::collections::BTreeMap::new(),
            own: vec![],
        };
        let environment = Arc::new(HostEnvironment::new().expect("randomness"));
        let database = Database::open(&dir.join("state.db")).expect("a database");
        let broker = HostBroker::new(environment.clone(), machine(dir, vec![]), database.journal());
        let broker = Arc::new(broker.with(bound, Arc::new(SystemResolver::default())));
        let opt_ins = Arc::new(MemoryOptIns::new());
        opt_ins.set("bench", true);
        let Parts { executor, sessions, operators } = Executor::build(Setup {
            registry: Registry::collect(&["capability-host", "capabilities"]).expect("a registry"),
            runner,
            broker,
            sink,
            approvals: Arc::new(MemoryApprovals::new()),
            turns: Arc::new(MemoryTurns::new()),
            opt_ins,
            grants: Arc::new(capability_core::store::MemoryGrants::new()),
            grant_limits: capability_core::approval::GrantLimits::off(),
            history: Arc::new(capability_core::store::MemoryHistory::new()),
            policy: Arc::new(capability_core::policy::MemoryPolicy::new()),
            providers: Arc::new(capability_core::provider::NoProviders),
            environment,
            key: DigestKey::new([7; 32]),
            limits: Limits { per_turn: u32::MAX, ..Limits::default() },
        });
        Self { executor, sessions, operators }
    }

    /// A call that nobody is asked about: its result, and how long it took.
    pub async fn invoked(&self, name: &str, arguments: &[u8], turn: u64) -> (String, Duration) {
        let session = self.sessions.open(identity(turn), Declarations::everything());
        let begun = Instant::now();
        let outcome = self.executor.invoke(&session, Proposal::new(name, 1, arguments)).await;
        let took = begun.elapsed();
        (outcome.result().unwrap_or_else(|| panic!("{outcome:?}")).to_owned(), took)
    }

    /// A call that was approved beforehand: its result, and how long it took from there on.
    pub async fn resumed(&self, name: &str, arguments: &[u8], turn: u64) -> (String, Duration) {
        let session = self.sessions.open(identity(turn), Declarations::everything());
        let pending = self.executor.invoke(&session, Proposal::new(name, 1, arguments)).await;
        let approval = pending.approval().unwrap_or_else(|| panic!("{pending:?}"));
        let operator = self.operators.admit(Subject::local());
        self.executor.answer(&operator, approval, Answer::Approve).await.expect("it is answered");
        let begun = Instant::now();
        let outcome = self.executor.resume(&session, approval).await;
        let took = begun.elapsed();
        (outcome.result().unwrap_or_else(|| panic!("{outcome:?}")).to_owned(), took)
    }
}

/// Lets the workers that were used be replaced, so that the next call does not share the processor with that.
pub async fn settled() {
    tokio::time::sleep(Duration::from_millis(6)).await;
}
