//! Who executes beside this process: the providers that the operator configured.
//!
//! | module | what it does |
//! |---|---|
//! | `bound` | servers that are a session's or a subject's own |
//! | `connection` | what is at the other end of one that stands, and when its list was read |
//! | `edges` | edges and relays: what they may carry out, and whether they are there |
//! | [`mcp`] | speaks with servers of the Model Context Protocol |
//! | `server` | one configured server: whether it can be reached, what it has, calls |
//! | `pins` | which definitions are accepted |
//! | `settings` | what the operator wrote, checked |

mod bound;
mod connection;
mod edges;
pub mod mcp;
mod pins;
mod server;
mod settings;
mod told;

pub use bound::NotBound;
pub use edges::{EdgeTold, HostEdges};
pub use pins::{Pin, PinChange};
pub use settings::{ClassLine, Scope, ServerSettings, Start, Way};
pub use told::{ServerTold, ToolTold, counts_because};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use capability_core::audit::Sink;
use capability_core::executor::BodyEnd;
use capability_core::handle::{BrokerFault, ProviderConnected, ToolReply};
use capability_core::provider::{ProviderDecision, ProviderSnapshot, ProviderState, ProviderType, Providers, Whose};
use capability_core::session::SessionIdentity;
use capability_core::store::StoreFault;
use capability_core::{Call, Environment, Failure, Soon};
use tokio::sync::Semaphore;

use crate::broker::Resolver;
use crate::store::sqlite::SqliteDefinitions;
use bound::Own;
use mcp::credential::Credentials;
use server::{Common, Server};

/// How many servers are contacted at a time.
pub const MOST_CONNECTING: usize = 4;
/// For how long a failure is remembered before it is tried again.
pub const FAILURE_KEPT: Duration = Duration::from_secs(30);

/// Every provider of a host.
pub struct HostProviders {
    /// As each is spoken with for everybody; what is only ever a session's stands here for operators to see.
    servers: BTreeMap<String, Arc<Server>>,
    /// What is a session's or a subject's own.
    own: Mutex<Own>,
    /// Whether those that are started with the host have been.
    started: AtomicBool,
    shared: Arc<Shared>,
}

/// What all servers have in common.
struct Shared {
    snapshot: Mutex<Arc<ProviderSnapshot>>,
    /// Everything that is spoken with, for as long as it is.
    members: Mutex<Vec<Weak<Server>>>,
    connecting: Semaphore,
    definitions: SqliteDefinitions,
    credentials: Arc<Credentials>,
    resolver: Arc<dyn Resolver>,
    environment: Arc<dyn Environment>,
    sink: Arc<dyn Sink>,
    /// Told whenever what can be called may have changed.
    changed: Box<dyn Fn() + Send + Sync>,
    /// The host's own directory: hidden from programs.
    data_dir: PathBuf,
}

/// What providers are made of.
pub struct ProviderSetup {
    /// The configured servers, by name.
    pub servers: BTreeMap<String, ServerSettings>,
    /// Where accepted definitions are kept.
    pub definitions: SqliteDefinitions,
    /// Where tokens are kept.
    pub credentials: PathBuf,
    /// Resolves the names of servers.
    pub resolver: Arc<dyn Resolver>,
    /// The wall clock.
    pub environment: Arc<dyn Environment>,
    /// Where definitions that were seen and accepted are recorded.
    pub sink: Arc<dyn Sink>,
    /// Told whenever what can be called may have changed.
    pub changed: Box<dyn Fn() + Send + Sync>,
    /// The host's own directory.
    pub data_dir: PathBuf,
}

impl HostProviders {
    /// Knows the configured servers and what was accepted of them, and contacts none.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn open(setup: ProviderSetup) -> Result<Self, StoreFault> {
        let ProviderSetup { servers, definitions, credentials, resolver, environment, sink, changed, data_dir } = setup;
        let credentials = Arc::new(Credentials::new(credentials));
        let shared = Arc::new(Shared {
            snapshot: Mutex::default(),
            members: Mutex::default(),
            connecting: Semaphore::new(MOST_CONNECTING),
            definitions,
            credentials,
            resolver,
            environment,
            sink,
            changed,
            data_dir,
        });
        let mut known = BTreeMap::new();
        for (name, settings) in servers {
            let opened = shared.definitions.open(ProviderType::Mcp, &name, settings.fingerprint())?;
            let common = Common {
                name: name.as_str().into(),
                settings: Arc::new(settings),
                shared: Arc::clone(&shared),
                serial: Arc::default(),
                given: Arc::default(),
            };
            known.insert(name, Server::new(common, opened, Whose::Everybody, None));
        }
        let providers = Self { servers: known, own: Mutex::default(), started: AtomicBool::new(false), shared };
        for server in providers.servers.values() {
            server.publish();
        }
        Ok(providers)
    }

    /// Whether there is any server to connect to.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Connects to a server, or finds that it is connected: to whichever is meant where this one asks, and as everybody where
    /// nobody does.
    ///
    /// # Errors
    /// [`BrokerFault`]: see [`capability_core::handle::ProviderLink::connect`].
    pub async fn connect(&self, name: &str, asked: Option<&SessionIdentity>) -> Result<ProviderConnected, BrokerFault> {
        let server = self.meant(name, asked)?;
        // In a task of its own: what was begun is known afterwards, whether or not somebody still waits.
        let connecting = tokio::spawn(async move { server.connect().await });
        connecting.await.unwrap_or(Err(BrokerFault::Unavailable))
    }

    /// Calls the tool that a decision names, with the very text of its arguments, for whom it was decided.
    ///
    /// # Errors
    /// [`BrokerFault`]: see [`capability_core::handle::ProviderTool::call`].
    pub async fn call(
        &self,
        decision: &ProviderDecision,
        arguments: &[u8],
        who: &SessionIdentity,
    ) -> Result<ToolReply, BrokerFault> {
        if decision.provider_type != ProviderType::Mcp {
            return Err(BrokerFault::Unserved);
        }
        self.judged(decision, who)?.call(decision, arguments).await
    }

    /// Where tokens are kept.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.shared.credentials
    }

    /// Whether a server of that name is configured.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.servers.contains_key(name)
    }

    /// Every server as an operator sees it: as everybody has it, then as subjects and sessions have it of their own.
    #[must_use]
    pub fn told(&self) -> Vec<ServerTold> {
        self.servers.keys().flat_map(|name| self.all_of(name)).map(|server| server.told()).collect()
    }

    /// One server's tools as an operator sees them, every definition once; none without such a server.
    #[must_use]
    pub fn tools(&self, name: &str) -> Option<Vec<ToolTold>> {
        let mut tools = self.servers.get(name)?.tools_told();
        for tool in self.all_of(name).iter().skip(1).flat_map(|server| server.tools_told()) {
            if !tools.iter().any(|known| (&known.tool, &known.definition) == (&tool.tool, &tool.definition)) {
                tools.push(tool);
            }
        }
        Some(tools)
    }

    /// What one server's program complained about; none without such a server or program.
    pub async fn said(&self, name: &str) -> Option<String> {
        let mut all = None;
        for server in self.all_of(name) {
            if let Some(said) = server.said().await {
                all.get_or_insert_with(String::new).push_str(&said);
            }
        }
        all
    }

    /// Everything of one server that differs from what was accepted, for whomever; every change once.
    #[must_use]
    pub fn changes(&self, name: &str) -> Vec<PinChange> {
        let mut changes: Vec<PinChange> = Vec::new();
        for change in self.all_of(name).iter().flat_map(|server| server.changes()) {
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
        changes
    }

    /// What differs from what was accepted of one tool, where that is something.
    #[must_use]
    pub fn change(&self, name: &str, tool: &str) -> Option<PinChange> {
        self.changes(name).into_iter().find(|change| change.now.id.native == tool)
    }

    /// Accepts the definition with this digest in the place of what was accepted, for everybody to whom it is shown. Recording it
    /// is the caller's part.
    ///
    /// # Errors
    /// When the store does not answer. Whether it was what waits to be accepted for anybody.
    pub async fn accept(&self, name: &str, tool: &str, digest: [u8; 32]) -> Result<bool, StoreFault> {
        let mut accepted = false;
        for server in self.all_of(name) {
            accepted |= server.accept(tool, digest).await?;
        }
        Ok(accepted)
    }

    /// Ends every connection and every program, and waits until all of it is gone.
    pub async fn close(&self) {
        let closing = self
            .servers
            .keys()
            .flat_map(|name| self.all_of(name))
            .map(|server| tokio::spawn(async move { server.close().await }));
        for closed in closing.collect::<Vec<_>>().into_iter().chain(self.left()) {
            let _ = closed.await;
        }
    }
}

impl Drop for HostProviders {
    fn drop(&mut self) {
        self.servers.keys().flat_map(|name| self.all_of(name)).for_each(|server| server.abandon());
    }
}

impl Providers for HostProviders {
    fn snapshot(&self) -> Arc<ProviderSnapshot> {
        Arc::clone(&self.shared.snapshot())
    }

    fn snapshot_for(&self, who: &SessionIdentity) -> Arc<ProviderSnapshot> {
        // What cannot be known now is offline for this one, and looked at again.
        let _ = self.know(&who.subject);
        self.snapshot()
    }

    fn run(&self, decision: &Arc<ProviderDecision>, arguments: &[u8], call: Call) -> Soon<'_, BodyEnd> {
        let is_ours = decision.provider_type == ProviderType::Mcp;
        let judged = if is_ours { self.judged(decision, call.lease().identity()) } else { Err(BrokerFault::Unserved) };
        let server = match judged {
            Ok(server) => server,
            Err(fault @ BrokerFault::AnotherCredential) => {
                return Soon::Ready(BodyEnd::Failed(fault.into_public().and_before_effect()));
            }
            Err(_) => {
                let gone = Failure::public("the provider cannot be reached").and_before_effect();
                return Soon::Ready(BodyEnd::Failed(gone));
            }
        };
        let (decision, arguments) = (Arc::clone(decision), arguments.to_vec());
        Soon::Later(Box::pin(async move {
            // For as long as it runs.
            let _call = call;
            server.carry_out(&decision, &arguments).await
        }))
    }

    fn any(&self) -> bool {
        !self.is_empty()
    }
}

impl Shared {
    fn snapshot(&self) -> std::sync::MutexGuard<'_, Arc<ProviderSnapshot>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what there is of one server for somebody into the snapshot that decisions are made from, in place of what there was.
    fn put(&self, name: &Arc<str>, whose: &Whose, state: impl FnOnce() -> Option<ProviderState>) {
        {
            // One at a time, from reading the state on: an older state never comes in after a newer one.
            let mut snapshot = self.snapshot();
            let is = |one: &&ProviderState| one.kind == ProviderType::Mcp && one.id == *name && one.whose == *whose;
            let others = snapshot.providers().iter().filter(|one| !is(one)).cloned();
            let providers = others.chain(state()).collect();
            *snapshot = Arc::new(ProviderSnapshot::new(snapshot.revision() + 1, providers));
        }
        (self.changed)();
    }

    fn join(&self, server: &Arc<Server>) {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.retain(|member| member.strong_count() > 0);
        members.push(Arc::downgrade(server));
    }

    /// All that share what is remembered under this number.
    fn members(&self, number: i64) -> Vec<Arc<Server>> {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.iter().filter_map(Weak::upgrade).filter(|member| member.number() == number).collect()
    }
}

impl core::fmt::Debug for HostProviders {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HostProviders({})", self.servers.len())
    }
}
