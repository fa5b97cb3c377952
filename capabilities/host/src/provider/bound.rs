//! Servers that are somebody's own: bound to a session that named them, or spoken with by a subject's own token.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use capability_core::handle::BrokerFault;
use capability_core::nearest;
use capability_core::provider::{Credential, ProviderDecision, ProviderReach, ProviderState, ProviderType, Whose};
use capability_core::session::{SessionId, SessionIdentity, Subject};
use capability_core::store::StoreFault;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::settings::{Scope, Start, Way};
use super::{Common, HostProviders, Server};
use crate::store::sqlite::OpenedProvider;

/// The most servers that are bound to sessions at a time.
const MOST_BOUND: usize = 64;
/// The most of them in sessions of one subject, so that nobody takes all of them.
const MOST_OF_ONE: usize = 32;
/// The most subjects of which it is remembered whether they have a token; all are looked at anew then.
const MOST_KNOWN: usize = 4096;

/// Everything that is somebody's own.
#[derive(Default)]
pub(super) struct Own {
    servers: BTreeMap<(String, Whose), Bound>,
    /// The subjects that were looked at: those of them that have a token of their own have a server above.
    known: BTreeSet<Subject>,
    /// What is being ended.
    ending: Vec<JoinHandle<()>>,
}

struct Bound {
    server: Arc<Server>,
    /// Whose session or token it is.
    subject: Subject,
    /// Until when it stays without being named again; for good without.
    until: Option<Instant>,
}

/// Why a session does not get a server that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotBound {
    /// None that a session can name is called so; with one that is.
    Unknown(String, Option<String>),
    /// That one is everybody's: there is nothing to name.
    Everybodys(String),
    /// As many are bound as there may be.
    Full,
    /// What was accepted of it cannot be read.
    Store,
}

impl core::fmt::Display for NotBound {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unknown(name, near) => {
                write!(f, "no server that a session can have of its own is configured as `{}`", name.escape_default())?;
                match near {
                    Some(near) => write!(f, "; `{near}` is one\nhelp: name that one, or "),
                    None => f.write_str("\nhelp: "),
                }?;
                f.write_str("write `[mcp.servers.NAME]` with `scope = \"request\"` into `config.toml`")
            }
            Self::Everybodys(name) => write!(
                f,
                "the server `{name}` is everybody's who declares it, and no session's own\nhelp: leave its name out, or write `scope = \"request\"` into its table in `config.toml`"
            ),
            Self::Full => write!(
                f,
                "{MOST_BOUND} servers are bound to sessions, or {MOST_OF_ONE} to those of one subject, which is as many as there may be\nhelp: end one of those sessions, and try again"
            ),
            Self::Store => f.write_str(
                "what was accepted of that server cannot be read\nhelp: look at the host with `capability doctor`",
            ),
        }
    }
}

impl core::error::Error for NotBound {}

impl HostProviders {
    /// Starts or contacts those servers that the operator starts with the host. Comes back at once.
    pub fn start(&self) {
        self.started.store(true, Ordering::SeqCst);
        for server in self.servers.keys().flat_map(|name| self.all_of(name)) {
            if server.settings().start == Start::WithHost {
                server.keep_connected();
            }
        }
    }

    /// Binds a server to a session: it is that session's and nobody else's from now on, and is there until the session is
    /// [left](Self::leave), or for as long as `kept` after it was last bound. Nothing is started by it.
    ///
    /// # Errors
    /// [`NotBound`].
    pub fn bind(&self, name: &str, who: &SessionIdentity, kept: Duration) -> Result<(), NotBound> {
        let base = self.servers.get(name).filter(|server| server.settings().scope == Scope::Request);
        let Some(base) = base else {
            if self.servers.contains_key(name) {
                return Err(NotBound::Everybodys(name.to_owned()));
            }
            let can = self.servers.iter().filter(|(_, server)| server.settings().scope == Scope::Request);
            let near = nearest(name, can.map(|(name, _)| name.as_str())).map(str::to_owned);
            return Err(NotBound::Unknown(name.to_owned(), near));
        };
        let until = Some(Instant::now() + kept);
        let key = (name.to_owned(), Whose::Session(who.id));
        let mut own = self.own();
        if let Some(bound) = own.servers.get_mut(&key) {
            bound.until = until;
            return Ok(());
        }
        let of_sessions = || own.servers.iter().filter(|((_, whose), _)| matches!(whose, Whose::Session(_)));
        let of_this_one = of_sessions().filter(|(_, bound)| bound.subject == who.subject).count();
        if of_this_one >= MOST_OF_ONE || of_sessions().count() >= MOST_BOUND {
            return Err(NotBound::Full);
        }
        let owner = self.has_own(base, &who.subject).then(|| who.subject.clone());
        let opened = match &owner {
            None => base.opened(),
            Some(owner) => self.opened(base, owner).map_err(|_| NotBound::Store)?,
        };
        // Each is a process or a way of its own: calls of one wait for none of another.
        let common = Common { serial: Arc::default(), ..base.common().clone() };
        let server = Server::new(common, opened, key.1.clone(), owner);
        own.servers.insert(key, Bound { server: Arc::clone(&server), subject: who.subject.clone(), until });
        drop(own);
        server.publish();
        Ok(())
    }

    /// A session has ended: what was bound to it is gone, and its programs are killed with all that they started.
    pub fn leave(&self, session: SessionId) {
        Self::end(&mut self.own(), |(_, whose), _| *whose == Whose::Session(session));
    }

    /// Ends what no session has named for too long.
    pub fn sweep(&self) {
        let now = Instant::now();
        Self::end(&mut self.own(), |_, bound| bound.until.is_some_and(|until| until <= now));
    }

    /// The token of a subject, or everybody's, is another one, or none any more: what was read with the one before is not gone
    /// by.
    pub fn token_changed(&self, name: &str, subject: Option<&Subject>) {
        let Some(subject) = subject else {
            self.all_of(name).iter().filter(|server| server.owner().is_none()).for_each(|server| server.doubt());
            return;
        };
        let mut own = self.own();
        Self::end(&mut own, |(own, _), bound| own == name && bound.subject == *subject);
        own.known.remove(subject);
        // What could not be known of it goes as well.
        if let Some(base) = self.servers.get(name) {
            self.shared.put(&base.common().name, &Whose::Subject(subject.clone()), || None);
        }
    }

    /// The server that is meant where this one names it: bound to its session, its subject's own, or everybody's.
    pub(super) fn meant(&self, name: &str, who: Option<&SessionIdentity>) -> Result<Arc<Server>, BrokerFault> {
        let base = self.servers.get(name).ok_or(BrokerFault::NotFound)?;
        let of = |whose: Whose| self.own().servers.get(&(name.to_owned(), whose)).map(|own| Arc::clone(&own.server));
        match (base.settings().scope, who) {
            (Scope::Request, None) => Err(BrokerFault::NotFound),
            (Scope::Request, Some(who)) => of(Whose::Session(who.id)).ok_or(BrokerFault::NotFound),
            (Scope::Host, None) => Ok(Arc::clone(base)),
            (Scope::Host, Some(who)) => {
                self.know(&who.subject).map_err(|_| BrokerFault::Unavailable)?;
                Ok(of(Whose::Subject(who.subject.clone())).unwrap_or_else(|| Arc::clone(base)))
            }
        }
    }

    /// The server that a decision was made about, if it is still spoken with by the same one's credential: what was judged, and
    /// answered for, was one person's doing or everybody's.
    pub(super) fn judged(
        &self,
        decision: &ProviderDecision,
        who: &SessionIdentity,
    ) -> Result<Arc<Server>, BrokerFault> {
        let server = self.meant(&decision.provider_id, Some(who))?;
        if server.credential() == decision.credential { Ok(server) } else { Err(BrokerFault::AnotherCredential) }
    }

    /// Sees whether a subject has tokens of its own. A server is spoken with for it apart then, and what that lists for it is
    /// what it has: a list that was read with another token is not its own.
    pub(super) fn know(&self, subject: &Subject) -> Result<(), StoreFault> {
        let is_asked = |server: &&Arc<Server>| {
            server.settings().scope == Scope::Host && matches!(server.settings().way, Way::Http(_))
        };
        let mut asked = self.servers.values().filter(is_asked).peekable();
        if asked.peek().is_none() {
            return Ok(());
        }
        let mut own = self.own();
        if own.known.contains(subject) {
            return Ok(());
        }
        let mut made = Vec::new();
        for base in asked {
            let key = (base.common().name.to_string(), Whose::Subject(subject.clone()));
            if own.servers.contains_key(&key) || !self.has_own(base, subject) {
                continue;
            }
            let opened = self.opened(base, subject).inspect_err(|_| self.unknown(base, subject))?;
            let server = Server::new(base.common().clone(), opened, key.1.clone(), Some(subject.clone()));
            let bound = Bound { server: Arc::clone(&server), subject: subject.clone(), until: None };
            own.servers.insert(key, bound);
            made.push(server);
        }
        // While nobody else can look: whoever finds the subject known finds its servers in the snapshot, too.
        made.iter().for_each(|server| server.publish());
        if own.known.len() >= MOST_KNOWN {
            own.known.clear();
        }
        own.known.insert(subject.clone());
        drop(own);
        let starts = |server: &&Arc<Server>| server.settings().start == Start::WithHost;
        if self.started.load(Ordering::SeqCst) && Handle::try_current().is_ok() {
            made.iter().filter(starts).for_each(|server| server.keep_connected());
        }
        Ok(())
    }

    /// As everybody has it, then as each has it who has it of their own.
    pub(super) fn all_of(&self, name: &str) -> Vec<Arc<Server>> {
        let own = self.own();
        let own = own.servers.iter().filter(|((of, _), _)| of == name).map(|(_, bound)| &bound.server);
        self.servers.get(name).into_iter().chain(own).map(Arc::clone).collect()
    }

    /// What is being ended, for whoever waits for it.
    pub(super) fn left(&self) -> Vec<JoinHandle<()>> {
        core::mem::take(&mut self.own().ending)
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(own: &mut Own, ends: impl Fn(&(String, Whose), &Bound) -> bool) {
        let ending: Vec<_> =
            own.servers.extract_if(.., |key, bound| ends(key, bound)).map(|(_, bound)| bound).collect();
        own.ending.retain(|task| !task.is_finished());
        for Bound { server, .. } in ending {
            server.retract();
            match Handle::try_current() {
                Ok(runtime) => own.ending.push(runtime.spawn(async move { server.close().await })),
                // Dropping what it holds ends it.
                Err(_) => server.abandon(),
            }
        }
    }

    /// Whether a subject has a token of its own for a server.
    fn has_own(&self, server: &Server, subject: &Subject) -> bool {
        let is_asked = matches!(server.settings().way, Way::Http(_));
        is_asked && self.shared.credentials.has_own(&server.common().name, subject)
    }

    /// What was accepted of a server for whoever has this subject's token: apart from what others are shown.
    fn opened(&self, server: &Server, subject: &Subject) -> Result<OpenedProvider, StoreFault> {
        // No configured name holds such a sign.
        let name = format!("{}@{subject}", server.common().name);
        self.shared.definitions.open(ProviderType::Mcp, &name, server.settings().fingerprint())
    }

    /// What a subject has of its own cannot be known: it has nothing, and not what others have.
    fn unknown(&self, server: &Server, subject: &Subject) {
        let (name, whose) = (&server.common().name, Whose::Subject(subject.clone()));
        self.shared.put(name, &whose, || {
            Some(ProviderState {
                id: Arc::clone(name),
                kind: ProviderType::Mcp,
                reach: ProviderReach::Offline("what was accepted of it cannot be read"),
                whose: whose.clone(),
                credential: Credential::Own,
                tools: Vec::new(),
                carries_out: Vec::new(),
            })
        });
    }
}
