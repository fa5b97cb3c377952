//! Who executes beside this process: the providers that the operator configured.
//!
//! | module | what it does |
//! |---|---|
//! | `connection` | what is at the other end of one that stands, and when its list was read |
//! | `edges` | edges and relays: what they may carry out, and whether they are there |
//! | [`mcp`] | speaks with servers of the Model Context Protocol |
//! | `server` | one configured server: whether it can be reached, what it has, calls |
//! | `pins` | which definitions are accepted |
//! | `settings` | what the operator wrote, checked |

mod connection;
mod edges;
pub mod mcp;
mod pins;
mod server;
mod settings;
mod told;

pub use edges::{EdgeTold, HostEdges};
pub use pins::{Pin, PinChange};
pub use settings::{ClassLine, ServerSettings, Start, Way};
pub use told::{ServerTold, ToolTold, counts_because};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capability_core::Environment;
use capability_core::audit::Sink;
use capability_core::handle::{BrokerFault, ProviderConnected, ToolReply};
use capability_core::provider::{ProviderDecision, ProviderSnapshot, ProviderType, Providers};
use capability_core::session::Subject;
use capability_core::store::StoreFault;
use tokio::sync::Semaphore;

use crate::broker::Resolver;
use crate::store::sqlite::SqliteDefinitions;
use mcp::credential::Credentials;
use server::Server;

/// How many servers are contacted at a time.
pub const MOST_CONNECTING: usize = 4;
/// For how long a failure is remembered before it is tried again.
pub const FAILURE_KEPT: Duration = Duration::from_secs(30);

/// Every provider of a host.
pub struct HostProviders {
    servers: BTreeMap<String, Arc<Server>>,
    shared: Arc<Shared>,
}

/// What all servers have in common.
struct Shared {
    snapshot: Mutex<Arc<ProviderSnapshot>>,
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
            known.insert(name.clone(), Arc::new(Server::new(name, settings, opened, Arc::clone(&shared))));
        }
        let providers = Self { servers: known, shared };
        for server in providers.servers.values() {
            server.publish();
        }
        Ok(providers)
    }

    /// Starts or contacts those servers that the operator starts with the host. Comes back at once.
    pub fn start(&self) {
        for server in self.servers.values().filter(|server| server.settings().start == Start::WithHost) {
            server.keep_connected();
        }
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, BrokerFault> {
        self.servers.get(name).ok_or(BrokerFault::NotFound)
    }

    /// Whether there is any server to connect to.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Connects to a server, or finds that it is connected, for whoever asks: where there is no token for everybody, that of
    /// the subject is what the server is greeted with.
    ///
    /// # Errors
    /// [`BrokerFault`]: see [`capability_core::handle::ProviderLink::connect`].
    pub async fn connect(&self, name: &str, asked: Option<&Subject>) -> Result<ProviderConnected, BrokerFault> {
        let (server, asked) = (Arc::clone(self.server(name)?), asked.cloned());
        // In a task of its own: what was begun is known afterwards, whether or not somebody still waits.
        let connecting = tokio::spawn(async move { server.connect(asked.as_ref()).await });
        connecting.await.unwrap_or(Err(BrokerFault::Unavailable))
    }

    /// Calls the tool that a decision names, with the very text of its arguments.
    ///
    /// # Errors
    /// [`BrokerFault`]: see [`capability_core::handle::ProviderTool::call`].
    pub async fn call(
        &self,
        decision: &ProviderDecision,
        arguments: &[u8],
        subject: &Subject,
    ) -> Result<ToolReply, BrokerFault> {
        if decision.provider_type != ProviderType::Mcp {
            return Err(BrokerFault::Unserved);
        }
        self.server(&decision.provider_id)?.call(decision, arguments, subject).await
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

    /// Every server as an operator sees it.
    #[must_use]
    pub fn told(&self) -> Vec<ServerTold> {
        self.servers.values().map(|server| server.told()).collect()
    }

    /// One server's tools as an operator sees them; none without such a server.
    #[must_use]
    pub fn tools(&self, name: &str) -> Option<Vec<ToolTold>> {
        Some(self.servers.get(name)?.tools_told())
    }

    /// What one server's program complained about; none without such a server or program.
    pub async fn said(&self, name: &str) -> Option<String> {
        self.servers.get(name)?.said().await
    }

    /// Everything of one server that differs from what was accepted.
    #[must_use]
    pub fn changes(&self, name: &str) -> Vec<PinChange> {
        self.servers.get(name).map(|server| server.changes()).unwrap_or_default()
    }

    /// What differs from what was accepted.
    #[must_use]
    pub fn change(&self, name: &str, tool: &str) -> Option<PinChange> {
        self.servers.get(name)?.change(tool)
    }

    /// Accepts the definition with this digest in the place of what was accepted. Recording it is the caller's part.
    ///
    /// # Errors
    /// When it is not what waits to be accepted, or the store does not answer.
    pub async fn accept(&self, name: &str, tool: &str, digest: [u8; 32]) -> Result<bool, StoreFault> {
        match self.servers.get(name) {
            Some(server) => server.accept(tool, digest).await,
            None => Ok(false),
        }
    }

    /// Ends every connection and every program, and waits until all of it is gone.
    pub async fn close(&self) {
        let closing = self.servers.values().map(|server| {
            let server = Arc::clone(server);
            tokio::spawn(async move { server.close().await })
        });
        for closed in closing.collect::<Vec<_>>() {
            let _ = closed.await;
        }
    }
}

impl Drop for HostProviders {
    fn drop(&mut self) {
        self.servers.values().for_each(|server| server.abandon());
    }
}

impl Providers for HostProviders {
    fn snapshot(&self) -> Arc<ProviderSnapshot> {
        Arc::clone(&self.shared.snapshot())
    }

    fn any(&self) -> bool {
        !self.is_empty()
    }
}

impl Shared {
    fn snapshot(&self) -> std::sync::MutexGuard<'_, Arc<ProviderSnapshot>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl core::fmt::Debug for HostProviders {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HostProviders({})", self.servers.len())
    }
}
