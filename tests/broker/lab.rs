//! An executor over the host's own broker, with bodies on threads, as a host has them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use capability_core::approval::{ApprovalId, DigestKey, OperatorMint};
use capability_core::audit::MemorySink;
use capability_core::executor::{Ended, Limits, Parts, Runner, Setup};
use capability_core::handle::BrokerFault;
use capability_core::policy::MemoryPolicy;
use capability_core::session::{Declarations, Mode, Origin, SessionId, SessionIdentity, SessionMint, Subject, TurnId};
use capability_core::store::{Answer, MemoryApprovals, MemoryOptIns, MemoryTurns};
use capability_core::{BoxFuture, Executor, Outcome, Proposal, Registry, Session};
use capability_host::broker::{Auth, Bound, EndpointSettings, HostBroker, Place, Reach, Resolver, Scheme, machine};
use capability_host::environment::HostEnvironment;
use capability_host::runner::{ThreadRunner, WorkerRunner};
use capability_host::secrets::{Knowing, SecretSettings};
use capability_host::store::Database;
use serde_json::Value;
use tempfile::TempDir;

/// Answers names as it is told to, in turn, and counts how often it is asked.
#[derive(Default)]
pub struct Scripted {
    answers: Mutex<BTreeMap<String, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
}

impl Scripted {
    /// The answers for a name, one for each time; the last one stays.
    pub fn answer(&self, name: &str, answers: &[&[&str]]) {
        let parsed = |answer: &&[&str]| answer.iter().map(|text| text.parse().expect("an address")).collect();
        let answers = answers.iter().map(parsed).collect();
        self.answers.lock().expect("no test panics with it").insert(name.to_owned(), answers);
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolver for Scripted {
    fn addresses(&self, name: &str) -> BoxFuture<'static, Result<Vec<IpAddr>, BrokerFault>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().expect("no test panics with it");
        let answer = answers.get_mut(name).map(|left| if left.len() > 1 { left.remove(0) } else { left[0].clone() });
        Box::pin(core::future::ready(answer.ok_or(BrokerFault::Unresolved)))
    }
}

/// A whole host but for its stores.
pub struct Lab {
    pub executor: Executor,
    pub session: Session,
    pub subject: Subject,
    pub sink: Arc<MemorySink>,
    pub names: Arc<Scripted>,
    pub broker: Arc<HostBroker>,
    policy: Arc<MemoryPolicy>,
    operators: OperatorMint,
    sessions: SessionMint,
    dir: TempDir,
    /// Other laboratories whose files this one uses.
    kept: Vec<Lab>,
}

static LABS: AtomicUsize = AtomicUsize::new(0);

/// Services, places that may be connected to, and secrets.
type Bindings<'a> = (&'a [(&'a str, EndpointSettings)], &'a [String], &'a [(&'a str, SecretSettings)]);

impl Lab {
    /// With these services, and `Http` allowed to connect to these places.
    pub fn new(endpoints: &[(&str, EndpointSettings)], allowed: &[String]) -> Self {
        Self::over(Arc::new(ThreadRunner::default()), endpoints, allowed, &[])
    }

    /// With bodies in processes of their own, which can reach nothing by themselves.
    pub fn isolated(endpoints: &[(&str, EndpointSettings)], allowed: &[String]) -> Self {
        Self::over(Arc::new(WorkerRunner::new(4, false)), endpoints, allowed, &[])
    }

    /// The same with something said about secrets.
    pub fn with_secrets(named: &[(&str, SecretSettings)]) -> Self {
        Self::over(Arc::new(WorkerRunner::new(4, false)), &[], &[], named)
    }

    /// With this directory as its workspace.
    pub fn in_root(root: &Path) -> Self {
        Self::around(Arc::new(ThreadRunner::default()), (&[], &[], &[]), Some(root))
    }

    fn over(
        runner: Arc<dyn Runner>,
        endpoints: &[(&str, EndpointSettings)],
        allowed: &[String],
        named: &[(&str, SecretSettings)],
    ) -> Self {
        Self::around(runner, (endpoints, allowed, named), None)
    }

    fn around(runner: Arc<dyn Runner>, (endpoints, allowed, named): Bindings<'_>, root: Option<&Path>) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join("ws")).expect("a workspace");
        let root = root.map_or_else(|| dir.path().join("ws"), Path::to_owned);
        let secrets = dir.path().join("secrets");
        private_dir(&secrets);
        let root: OwnedFd = std::fs::File::open(root).expect("the workspace").into();
        let bound = Bound {
            endpoints: endpoints.iter().map(|(name, settings)| ((*name).to_owned(), settings.clone())).collect(),
            authorities: None,
            allowed: allowed.iter().map(|text| Place::of_authority(text, 0).expect("a place")).collect(),
            workspace: Some(root),
            secrets: Some(secrets),
            named_secrets: named.iter().map(|(name, settings)| ((*name).to_owned(), settings.clone())).collect(),
            mail: None,
            repositories: None,
            trees: BTreeMap::new(),
            own: vec![dir.path().join("own")],
        };
        let environment = Arc::new(HostEnvironment::new().expect("randomness"));
        let database = Database::open(&dir.path().join("state.db")).expect("a database");
        let names = Arc::<Scripted>::default();
        let broker = HostBroker::new(environment.clone(), machine(dir.path(), vec![]), database.journal());
        let (sink, opt_ins) = (Arc::new(MemorySink::new()), Arc::new(MemoryOptIns::new()));
        let broker = Arc::new(broker.with(bound, Arc::clone(&names) as _).recording(Arc::clone(&sink) as _));
        let policy = Arc::new(MemoryPolicy::new());
        ["web", "far"].iter().for_each(|family| opt_ins.set(family, true));
        let Parts { executor, sessions, operators } = Executor::build(Setup {
            registry: Registry::collect(&["capability-tests", "capabilities"])
                .expect("the capabilities are fit to start"),
            runner,
            broker: Arc::clone(&broker) as _,
            sink: Arc::clone(&sink) as _,
            approvals: Arc::new(MemoryApprovals::new()),
            turns: Arc::new(MemoryTurns::new()),
            opt_ins,
            grants: Arc::new(capability_core::store::MemoryGrants::new()),
            grant_limits: capability_core::approval::GrantLimits::off(),
            history: Arc::new(capability_core::store::MemoryHistory::new()),
            policy: Arc::clone(&policy) as _,
            providers: Arc::new(capability_core::provider::NoProviders),
            environment,
            key: DigestKey::new([7; 32]),
            limits: Limits { per_turn: 100_000, approval_lifetime: core::time::Duration::from_secs(120) },
        });
        executor.redact_with(Arc::new(Knowing));
        let subject: Subject = format!("lab-{}", LABS.fetch_add(1, Ordering::SeqCst)).parse().expect("a subject");
        let identity = SessionIdentity {
            id: SessionId::from_bytes([1; 16]),
            subject: subject.clone(),
            mode: Mode::Live,
            origin: Origin::Terminal,
            turn: TurnId(1),
        };
        let session = sessions.open(identity, Declarations::everything());
        Self { executor, session, subject, sink, names, broker, policy, operators, sessions, dir, kept: vec![] }
    }

    /// From now on the subject declares this much.
    pub fn declare(&mut self, capabilities: &[&str]) {
        let declared = capabilities.iter().map(|text| text.parse().expect("a declaration")).collect();
        self.session = self.sessions.open(self.session.identity().clone(), Declarations::only(declared));
    }

    /// Keeps another laboratory's files for as long as this one is there.
    pub fn keep(&mut self, other: Self) {
        self.kept.push(other);
    }

    /// The workspace's root.
    pub fn workspace(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    /// Beside the workspace, never below it.
    pub fn outside(&self) -> &Path {
        self.dir.path()
    }

    /// Stores a file that is its owner's alone.
    pub fn private(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        private_file(&path, content);
        path
    }

    pub async fn invoke(&self, name: &str, arguments: Value) -> Outcome {
        self.executor.invoke(&self.session, Proposal::new(name, 1, arguments.to_string())).await
    }

    /// From now on these rules of an operator are in force.
    pub fn rules(&self, text: &str) {
        self.policy.set(super::rules::operator(text));
    }

    /// Somebody says yes to what waits.
    pub async fn approve(&self, id: ApprovalId) {
        let operator = self.operators.admit("operator:anna".parse().expect("a subject"));
        self.executor.answer(&operator, id, Answer::Approve).await.expect("it is answered");
    }

    /// A session of somebody in a turn of its own.
    pub fn session_of(&self, subject: &Subject, turn: u64) -> Session {
        let id = SessionId::from_bytes([turn.to_le_bytes()[0]; 16]);
        let (mode, origin) = (Mode::Live, Origin::Terminal);
        let identity = SessionIdentity { id, subject: subject.clone(), mode, origin, turn: TurnId(turn) };
        self.sessions.open(identity, Declarations::everything())
    }

    /// A session of the lab's subject in another mode.
    pub fn session_in(&self, mode: Mode) -> Session {
        let identity = SessionIdentity { mode, ..self.session.identity().clone() };
        self.sessions.open(identity, Declarations::everything())
    }

    /// Asks, and where an answer is needed has it approved and goes on.
    pub async fn run(&self, name: &str, arguments: Value) -> Outcome {
        self.run_in(&self.session, name, arguments).await
    }

    /// The same in another session.
    pub async fn run_in(&self, session: &Session, name: &str, arguments: Value) -> Outcome {
        let outcome = self.executor.invoke(session, Proposal::new(name, 1, arguments.to_string())).await;
        let Some(id) = outcome.approval() else { return outcome };
        self.approve(id).await;
        self.executor.resume(session, id).await
    }

    /// What whoever answers is shown.
    pub async fn preview(&self, id: ApprovalId) -> String {
        let operator = self.operators.admit("operator:anna".parse().expect("a subject"));
        let found = self.executor.approval(&operator, id).await.expect("the store answers").expect("it waits");
        found.filed.and_then(|filed| filed.approval.preview).expect("it has a preview").text
    }

    /// The result as JSON, or the word of whatever kept it from coming.
    pub async fn said(&self, name: &str, arguments: Value) -> Result<Value, String> {
        let outcome = self.run(name, arguments).await;
        match outcome.ended() {
            Ended::Executed { result } => Ok(serde_json::from_str(result).expect("a result is JSON")),
            _ => Err(outcome.message().map_or_else(|| format!("{outcome:?}"), |message| message.to_string())),
        }
    }

    /// The word of the rule that refused.
    pub async fn fault(&self, name: &str, arguments: Value) -> String {
        match self.said(name, arguments.clone()).await {
            Err(word) => word,
            Ok(result) => panic!("{name} {arguments} is not refused: {result}"),
        }
    }
}

pub fn private_dir(path: &Path) {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path).expect("a private directory");
}

pub fn private_file(path: &Path, content: &[u8]) {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file = std::fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .expect("a private file");
    file.write_all(content).expect("written");
}

/// A service in the clear at a port of this machine, as near as can be.
pub fn near(port: u16) -> EndpointSettings {
    EndpointSettings {
        scheme: Scheme::Http,
        place: Place::of_authority(&format!("127.0.0.1:{port}"), 0).expect("a place"),
        base: String::new(),
        reach: Reach::Device,
        ca_file: None,
        server_name: None,
        auth: Auth::None,
    }
}
