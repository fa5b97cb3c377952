//! Agents: programs that the operator configured, each for turns that act for somebody.
//!
//! A turn is a session of the agent's own subject or slot, opened *for* the session that asked for it: whatever that one may not do
//! the agent may not do either, in the strictest mode of all behind it, and it ends when that one ends. Its program is told the task
//! on its standard input, is heard on its standard output, and calls capabilities over a socket in its own home, on which MCP is
//! spoken as with any program. The socket is the turn's: whoever speaks there is in that session and in no other. The host's own
//! directory, and with it the socket at which the local subject is served, is out of the program's sight; where the machine cannot
//! do that, no agent is started.

mod running;
mod turn;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use capability_core::audit::{ConfiguredName, Event, InvocationId, Record, Sink};
use capability_core::handle::{
    AgentAnswer, AgentEnd, AgentRun, AgentSeen, BrokerFault, Lease, MAX_AGENT_DEPTH, MAX_RUNNING_AGENTS,
};
use capability_core::session::{Mode, Origin, Session, SessionId, SessionIdentity, Subject};
use capability_core::{Environment, Timestamp};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::host::Host;
use crate::protocol::drawn_turn;
use crate::provider::mcp::ProgramSettings;
use crate::service::Service;
use crate::subjects::SlotPath;

/// The variable that names the turn's socket to the program.
pub const TURN: &str = "CAPABILITY_TURN";
/// The most agents of a host at a time.
const MOST_RUNNING: usize = 16;
/// The most runs that are remembered, and for how long after their end.
const MOST_KEPT: usize = 64;
const KEPT: Duration = Duration::from_secs(60 * 60);
/// How long the end of a stopped program is waited for.
const ENDING: Duration = Duration::from_secs(10);

/// One configured agent, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// The subject whose manifest it is held to.
    pub subject: Subject,
    /// The slot of that subject that it is.
    pub slot: Option<SlotPath>,
    /// Its program.
    pub program: ProgramSettings,
    /// How long a turn may last.
    pub timeout: Duration,
}

impl AgentSettings {
    /// Everything that is configured of it but what stands in files: another program or subject is another agent.
    fn fingerprint(&self, name: &str) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix("agent\0");
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        part(name.as_bytes());
        part(self.subject.as_str().as_bytes());
        part(self.slot.as_ref().map_or_else(String::new, ToString::to_string).as_bytes());
        part(&self.timeout.as_secs().to_be_bytes());
        for word in &self.program.command {
            part(word.as_bytes());
        }
        part(b"in");
        part(self.program.directory.as_ref().map_or(&[][..], |directory| directory.as_os_str().as_encoded_bytes()));
        for name in &self.program.pass {
            part(name.as_bytes());
        }
        for (name, value) in &self.program.set {
            part(name.as_bytes());
            part(value.as_bytes());
        }
        for (name, file) in &self.program.secrets {
            part(name.as_bytes());
            part(file.as_os_str().as_encoded_bytes());
        }
        hash.finalize().into()
    }
}

/// The agents of a host, and their turns.
pub(crate) struct Agents {
    settings: BTreeMap<String, AgentSettings>,
    /// Hidden from every program.
    data_dir: PathBuf,
    environment: Arc<dyn Environment>,
    sink: Arc<dyn Sink>,
    /// Whoever opens sessions and speaks with programs; it holds the host, and the host holds this.
    door: OnceLock<Weak<Service>>,
    turns: Mutex<Turns>,
}

#[derive(Default)]
struct Turns {
    /// By the name that the turn's own connections have, which nobody else knows.
    live: HashMap<SessionId, Live>,
    /// Those that nobody waits for, and those that were, the newest last.
    runs: Vec<Run>,
}

/// A turn that is under way.
struct Live {
    session: Session,
    /// The agents behind it, this one last.
    chain: Vec<String>,
    /// Who started it.
    parent: Subject,
    /// The call that did.
    invocation: InvocationId,
    began_at: Timestamp,
    /// When its time is over.
    ends_at: Timestamp,
    stop: CancellationToken,
    gone: CancellationToken,
}

/// One that nobody waits for.
struct Run {
    parent: Subject,
    told: AgentRun,
    connection: SessionId,
}

impl Agents {
    pub fn new(
        settings: BTreeMap<String, AgentSettings>,
        data_dir: PathBuf,
        environment: Arc<dyn Environment>,
        sink: Arc<dyn Sink>,
    ) -> Self {
        Self { settings, data_dir, environment, sink, door: OnceLock::new(), turns: Mutex::default() }
    }

    /// Whether any is configured.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    /// Lets turns be opened and served by `service`.
    pub fn serve_by(&self, service: &Arc<Service>) {
        let _ = self.door.set(Arc::downgrade(service));
    }

    /// The session of the turn whose connections have that name.
    pub fn session(&self, connection: SessionId) -> Option<Session> {
        self.turns().live.get(&connection).map(|live| live.session.clone())
    }

    /// What an agent is, and whether the lease's session may start it.
    pub fn look(&self, lease: &Lease, agent: &str) -> Result<AgentSeen, BrokerFault> {
        let settings = self.settings.get(agent).ok_or(BrokerFault::UnknownAgent)?;
        let parent = lease.session().ok_or(BrokerFault::Undeclared)?;
        self.chain(&self.turns(), parent, agent, settings)?;
        self.declared(settings)?;
        Ok(AgentSeen {
            subject: settings.subject.clone(),
            slot: settings.slot.as_ref().map(ToString::to_string),
            program: settings.program.command.first().cloned().unwrap_or_default(),
            lasts_s: settings.timeout.as_secs(),
            rests_on: settings.fingerprint(agent),
        })
    }

    /// A turn to its end; it ends with whoever waits for this.
    pub async fn run(self: Arc<Self>, lease: &Lease, agent: &str, task: String) -> Result<AgentAnswer, BrokerFault> {
        let turn = self.begin(lease, agent)?;
        turn.act(task).await
    }

    /// A turn that nobody waits for.
    pub fn spawn(self: Arc<Self>, lease: &Lease, agent: &str, task: String) -> Result<SessionId, BrokerFault> {
        let parent = lease.identity().subject.clone();
        let turn = Arc::clone(&self).begin(lease, agent)?;
        let (run, connection) = (turn.session.identity().id, turn.connection);
        let now = self.environment.now();
        let told = AgentRun { run, agent: agent.to_owned(), began_at: now, ended_at: None, answer: None };
        {
            let mut turns = self.turns();
            turns.forget(now);
            turns.runs.push(Run { parent, told, connection });
        }
        tokio::spawn(async move {
            let answer = turn.act(task).await;
            // What could not be started has answered nothing.
            let failed = |_| AgentAnswer { ended: AgentEnd::Failed, answer: String::new(), truncated: false };
            let (now, mut turns) = (self.environment.now(), self.turns());
            if let Some(run) = turns.runs.iter_mut().find(|run| run.connection == connection) {
                run.told.ended_at = Some(now);
                run.told.answer = Some(answer.unwrap_or_else(failed));
            }
        });
        Ok(run)
    }

    /// Those that the identity's subject has started and not waited for, the newest first.
    pub fn list(&self, identity: &SessionIdentity) -> Vec<AgentRun> {
        let now = self.environment.now();
        let mut turns = self.turns();
        turns.forget(now);
        let own = turns.runs.iter().filter(|run| run.parent == identity.subject);
        own.rev().map(|run| run.told.clone()).collect()
    }

    /// Ends one of those, and waits until it is gone.
    pub async fn stop(&self, identity: &SessionIdentity, run: SessionId) -> Result<(), BrokerFault> {
        let gone = {
            let turns = self.turns();
            let own = turns.runs.iter().find(|own| own.parent == identity.subject && own.told.run == run);
            let live = own.and_then(|own| turns.live.get(&own.connection)).ok_or(BrokerFault::UnknownRun)?;
            live.stop.cancel();
            live.gone.clone()
        };
        tokio::time::timeout(ENDING, gone.cancelled()).await.map_err(|_| BrokerFault::TimedOut)
    }

    /// Ends all of them, and waits until they are gone.
    pub async fn close(&self) {
        let ending: Vec<_> = self.turns().live.values().map(|live| (live.stop.clone(), live.gone.clone())).collect();
        ending.iter().for_each(|(stop, _)| stop.cancel());
        let gone = async {
            for (_, gone) in &ending {
                gone.cancelled().await;
            }
        };
        let _ = tokio::time::timeout(ENDING, gone).await;
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn door(&self) -> Result<Arc<Service>, BrokerFault> {
        self.door.get().and_then(Weak::upgrade).ok_or(BrokerFault::Unavailable)
    }

    fn declared(&self, settings: &AgentSettings) -> Result<capability_core::session::Declarations, BrokerFault> {
        let declared = self.door()?.declared(&settings.subject, settings.slot.as_ref());
        declared.map_err(|_| BrokerFault::NoManifest)
    }

    /// The agents behind one that `parent` would start, that one last: never one twice, and never one of a subject that is there.
    fn chain(
        &self,
        turns: &Turns,
        parent: &Session,
        agent: &str,
        settings: &AgentSettings,
    ) -> Result<Vec<String>, BrokerFault> {
        let identity = parent.identity();
        if parent.behind().len() >= MAX_AGENT_DEPTH {
            return Err(BrokerFault::TooDeep);
        }
        let above = turns.live.values().find(|live| live.session.identity().id == identity.id);
        let mut chain = match above {
            Some(live) => live.chain.clone(),
            // A turn that has ended starts nothing; what else acts for somebody is a schedule.
            None if !parent.behind().is_empty() && identity.origin != Origin::Schedule => {
                return Err(BrokerFault::Ended);
            }
            None => Vec::new(),
        };
        let behind = parent.behind().iter().map(|ancestor| &ancestor.identity.subject);
        let mut subjects = core::iter::once(&identity.subject).chain(behind);
        if chain.iter().any(|above| above == agent)
            || (settings.slot.is_none() && subjects.any(|subject| *subject == settings.subject))
        {
            return Err(BrokerFault::AgentAbove);
        }
        chain.push(agent.to_owned());
        Ok(chain)
    }

    /// Opens the session, on record.
    fn begin(self: Arc<Self>, lease: &Lease, agent: &str) -> Result<turn::Turn, BrokerFault> {
        let settings = self.settings.get(agent).ok_or(BrokerFault::UnknownAgent)?.clone();
        let name = ConfiguredName::of(agent).ok_or(BrokerFault::UnknownAgent)?;
        if !lease.rests_on(&settings.fingerprint(agent)) {
            return Err(BrokerFault::Changed);
        }
        let parent = lease.session().ok_or(BrokerFault::Undeclared)?;
        let declared = self.declared(&settings)?;
        let service = self.door()?;
        let host = service.host();
        let mut drawn = [0; 8];
        self.environment.fill_random(&mut drawn);
        let identity = SessionIdentity {
            id: host.new_session_id(),
            subject: settings.subject.clone(),
            mode: Mode::Live,
            origin: Origin::Model,
            turn: drawn_turn(u64::from_be_bytes(drawn)),
        };
        let (connection, stop, gone) = (host.new_session_id(), CancellationToken::new(), CancellationToken::new());
        let session = {
            let mut turns = self.turns();
            let chain = self.chain(&turns, parent, agent, &settings)?;
            let own = turns.live.values().filter(|live| live.parent == parent.identity().subject).count();
            if own >= MAX_RUNNING_AGENTS || turns.live.len() >= MOST_RUNNING {
                return Err(BrokerFault::AgentsBusy);
            }
            let by = (Some(name.clone()), settings.slot.clone());
            let session = host.sessions().open_for_in(parent, by, identity, declared);
            let (session_of, parent) = (session.clone(), parent.identity().subject.clone());
            let (began_at, invocation) = (self.environment.now(), lease.invocation());
            let ends_at = began_at.after(settings.timeout);
            let (stop, gone) = (stop.clone(), gone.clone());
            let live = Live { session: session_of, chain, parent, invocation, began_at, ends_at, stop, gone };
            turns.live.insert(connection, live);
            session
        };
        let turn = turn::Turn {
            invocation: lease.invocation(),
            parent: parent.identity().subject.clone(),
            agents: self,
            service: Arc::downgrade(&service),
            settings,
            name,
            session,
            connection,
            stop,
            gone,
            ended: AgentEnd::Stopped,
        };
        if turn.record(None) { Ok(turn) } else { Err(BrokerFault::Unavailable) }
    }

    /// Records that a turn began or ended, and says whether it could be.
    fn record(&self, of: (InvocationId, ConfiguredName, Subject), session: &Session, ended: Option<AgentEnd>) -> bool {
        let ((invocation, agent, parent), identity) = (of, session.identity());
        let event = Event::AgentTurn {
            invocation,
            agent,
            parent,
            subject: identity.subject.clone(),
            session: identity.id,
            turn: identity.turn,
            mode: identity.mode,
            depth: session.behind().len(),
            ended,
        };
        !self.sink.submit(Record { at: self.environment.now(), event }).is_refused()
    }
}

impl Turns {
    /// Forgets what ended long ago, and the oldest of too many that have ended.
    fn forget(&mut self, now: Timestamp) {
        self.runs.retain(|run| run.told.ended_at.is_none_or(|ended| now.since(ended) < KEPT));
        while self.runs.len() >= MOST_KEPT {
            let Some(oldest) = self.runs.iter().position(|run| run.told.ended_at.is_some()) else { break };
            self.runs.remove(oldest);
        }
    }
}

/// A host that can speak with agents: for whoever opens a [`Host`] without the command line around it.
pub struct AgentHost(Arc<Service>);

impl AgentHost {
    /// The same host, whose agents are served from now on.
    #[must_use]
    pub fn of(host: Host) -> Self {
        Self(Service::shared(host))
    }
}

impl core::ops::Deref for AgentHost {
    type Target = Host;

    fn deref(&self) -> &Host {
        self.0.host()
    }
}

impl core::fmt::Debug for AgentHost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.host().fmt(f)
    }
}
