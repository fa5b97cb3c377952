//! What stands behind the handles.

mod agents;
mod budget;
mod device;
mod endpoint;
#[cfg(target_os = "linux")]
mod files;
#[cfg(not(target_os = "linux"))]
#[path = "files_elsewhere.rs"]
mod files;
mod http;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
#[path = "../runner/worker/received.rs"]
mod received;
#[cfg(not(target_os = "linux"))]
mod received {
    /// Not told on this system: no connection is handed out then.
    pub fn bytes_received(_: impl std::os::fd::AsFd) -> Option<u64> {
        None
    }
}
mod mail;
mod own;
mod repository;
mod resolve;
mod running;
#[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod terminal;
#[cfg(not(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "terminal_elsewhere.rs"]
mod terminal;
mod trees;

pub use device::{DeviceSource, machine};
pub use endpoint::{Auth, EndpointSettings, Reach};
pub(crate) use endpoint::{authorities, exchanged, secured};
pub use http::{Host, Place, Scheme};
pub(crate) use http::{addresses, connected};
#[cfg(target_os = "linux")]
pub use linux::LinuxDevice;
pub use mail::{MailSettings, Security};
pub use repository::{Elsewhere, RepositorySource};
pub use resolve::{Resolver, SystemResolver};
pub use trees::TreeSettings;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use capability_core::audit::{SecretSource, Sink};
use capability_core::contract::{Class, TargetKind};
use capability_core::handle::{
    Broker, BrokerFault, BrokerReply, BrokerRequest, DeviceReadings, HandleFamily, HandleKind, Lease, Workdir,
};
use capability_core::provider::ProviderType;
use capability_core::store::Results;
use capability_core::{BoxFuture, Environment};
use tokio::runtime::Handle as Runtime;
use tokio::task::JoinHandle;

use crate::agents::Agents;
use crate::provider::{HostEdges, HostProviders};
use crate::schedule::Schedules;
use crate::secrets::{SecretSettings, Secrets};
use crate::store::sqlite::{SqliteJournal, SqliteReviews, SqliteState};
use budget::Ledger;
use endpoint::{Question, Service, authorities_as_data};
use files::Files;
use http::Connector;
use mail::Mailer;
use repository::Repositories;
use terminal::Processes;
use trees::Trees;

/// What the operator bound beyond what every host has.
#[derive(Default)]
pub struct Bound {
    /// Services, by the name of their endpoint kind.
    pub endpoints: BTreeMap<String, EndpointSettings>,
    /// Where `Http` may connect to though it is not public or the port is no standard one.
    pub allowed: Vec<Place>,
    /// A PEM file of the authorities that `Http` trusts beside the public ones.
    pub authorities: Option<PathBuf>,
    /// The workspace's root, open.
    pub workspace: Option<OwnedFd>,
    /// The directory of secrets.
    pub secrets: Option<PathBuf>,
    /// What the configuration says of some of them.
    pub named_secrets: BTreeMap<String, SecretSettings>,
    /// The mail server.
    pub mail: Option<MailSettings>,
    /// Repositories by name, and the directory of their copies.
    pub repositories: Option<(BTreeMap<String, RepositorySource>, PathBuf)>,
    /// Trees by name.
    pub trees: BTreeMap<String, TreeSettings>,
    /// Files and directories that are the host's own: no path leads a capability there, whoever answered.
    pub own: Vec<PathBuf>,
}

/// Serves every handle that this host has something behind. What it does not serve is refused at policy with
/// `missing_runtime_binding`, before anything runs.
///
/// Whatever it does for a call is done in the host's own runtime, wherever the call's body runs, and ends with the call's
/// lease.
pub struct HostBroker {
    environment: Arc<dyn Environment>,
    device: Arc<dyn DeviceSource>,
    journal: SqliteJournal,
    /// The host's own runtime.
    runtime: Option<Runtime>,
    ledger: Arc<Ledger>,
    connector: Arc<Connector>,
    authorities: Option<PathBuf>,
    endpoints: BTreeMap<String, Arc<Service>>,
    files: Option<Arc<Files>>,
    secrets: Option<Secrets>,
    repositories: Option<Arc<Repositories>>,
    mailer: Option<Arc<Mailer>>,
    kept: Option<(SqliteState, SqliteReviews)>,
    schedules: Option<Arc<Schedules>>,
    processes: Option<Arc<Processes>>,
    agents: Option<Arc<Agents>>,
    trees: Arc<Trees>,
    sink: Option<Arc<dyn Sink>>,
    own: Option<Own>,
    providers: Option<Arc<HostProviders>>,
    edges: Option<Arc<HostEdges>>,
}

/// What stands behind `OwnHistory`.
#[derive(Clone)]
struct Own {
    results: Arc<dyn Results>,
    log: PathBuf,
}

impl HostBroker {
    /// A broker in front of this clock, this machine and these journals. Made inside the host's runtime, it works there.
    #[must_use]
    pub fn new(environment: Arc<dyn Environment>, device: Arc<dyn DeviceSource>, journal: SqliteJournal) -> Self {
        let resolver: Arc<dyn Resolver> = Arc::new(SystemResolver::default());
        Self {
            environment,
            device,
            journal,
            runtime: Runtime::try_current().ok(),
            ledger: Arc::default(),
            connector: Arc::new(Connector::new(resolver, Vec::new())),
            authorities: None,
            endpoints: BTreeMap::new(),
            files: None,
            secrets: None,
            own: None,
            providers: None,
            edges: None,
            repositories: None,
            mailer: None,
            kept: None,
            schedules: None,
            processes: None,
            agents: None,
            trees: Arc::default(),
            sink: None,
        }
    }

    /// The same broker with results that can be had again, and with the log in which subjects look for their own calls.
    #[must_use]
    pub fn remembering(self, results: Arc<dyn Results>, log: PathBuf) -> Self {
        Self { own: Some(Own { results, log }), ..self }
    }

    /// The same broker with these providers behind the handles of theirs.
    #[must_use]
    pub fn providing(self, providers: Arc<HostProviders>, edges: Arc<HostEdges>) -> Self {
        Self { providers: Some(providers), edges: Some(edges), ..self }
    }

    /// The same broker with what the operator bound, and with names resolved by `resolver`.
    #[must_use]
    pub fn with(self, bound: Bound, resolver: Arc<dyn Resolver>) -> Self {
        let Bound {
            endpoints,
            allowed,
            authorities,
            workspace,
            secrets,
            named_secrets,
            own,
            mail,
            repositories,
            trees,
        } = bound;
        let named_secrets = Arc::new(named_secrets);
        let service = |settings| Arc::new(Service::new(settings, Arc::clone(&resolver)));
        Self {
            connector: Arc::new(Connector::new(Arc::clone(&resolver), allowed)),
            authorities,
            endpoints: endpoints.into_iter().map(|(name, settings)| (name, service(settings))).collect(),
            files: workspace.map(|root| Arc::new(Files::new(root, own))),
            secrets: secrets.map(|directory| Secrets::new(directory, named_secrets)),
            trees: Arc::new(Trees::new(trees)),
            mailer: mail
                .map(|settings| Arc::new(Mailer::new(settings, Arc::clone(&resolver), Arc::clone(&self.environment)))),
            repositories: repositories
                .map(|(sources, copies)| Arc::new(Repositories::new(sources, copies, Arc::clone(&resolver)))),
            ..self
        }
    }

    /// The same broker, in front of these stores of what subjects keep and leave for people.
    #[must_use]
    pub fn keeping(self, state: SqliteState, reviews: SqliteReviews) -> Self {
        Self { kept: Some((state, reviews)), ..self }
    }

    /// The same broker, in front of these schedules.
    #[must_use]
    pub(crate) fn scheduling(self, schedules: Schedules) -> Self {
        Self { schedules: Some(Arc::new(schedules)), ..self }
    }

    /// The same broker, in front of these agents.
    #[must_use]
    pub(crate) fn starting(self, agents: Arc<Agents>) -> Self {
        Self { agents: Some(agents), ..self }
    }

    /// Ends what was left running, and gives back whatever sessions it opened with services. Nothing is lost without it but time and
    /// records: they end by themselves.
    pub async fn close(&self) {
        if let Some(processes) = &self.processes {
            processes.close().await;
        }
        for service in self.endpoints.values() {
            service.close().await;
        }
    }

    /// The configured repositories, if there are any.
    pub(crate) fn repositories(&self) -> Option<&Arc<Repositories>> {
        self.repositories.as_ref().filter(|found| !found.is_empty())
    }

    /// What a lease's capability does in the host's runtime, until it is done or the lease ends, whichever comes first.
    fn carried(
        &self,
        lease: &Lease,
        work: impl Future<Output = Result<BrokerReply, BrokerFault>> + Send + 'static,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let (runtime, ending) = (self.runtime.clone(), lease.ending());
        Box::pin(async move {
            let runtime = runtime.or_else(|| Runtime::try_current().ok()).ok_or(BrokerFault::Unavailable)?;
            let task = runtime.spawn(async move {
                tokio::select! {
                    biased;
                    () = ending.comes() => Err(BrokerFault::Ended),
                    done = work => done,
                }
            });
            Carried(task).await
        })
    }

    fn connect(&self, lease: &Lease) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let (connector, ledger, leased) = (Arc::clone(&self.connector), Arc::clone(&self.ledger), lease.clone());
        self.carried(lease, async move {
            let account = ledger.account(&leased);
            connector.connect(&leased, &account).await.map(BrokerReply::Descriptor)
        })
    }

    /// The operator's own authorities. A file that cannot be read is no empty list: whoever trusted it would not know why
    /// nothing is trusted any more.
    fn trusted(&self, lease: &Lease) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let Some(file) = self.authorities.clone() else {
            return Box::pin(core::future::ready(Ok(BrokerReply::Authorities(Vec::new()))));
        };
        self.carried(lease, async move {
            let read = tokio::task::spawn_blocking(move || authorities_as_data(&file)).await;
            read.unwrap_or(Err(BrokerFault::Unavailable)).map(BrokerReply::Authorities)
        })
    }

    fn exchange(
        &self,
        lease: &Lease,
        endpoint: &str,
        question: Question,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        // The lease's own entry says what the kind lists, not whoever asks.
        let Some(kind) = lease.declared(HandleFamily::Endpoint, endpoint) else {
            return refused(BrokerFault::Undeclared);
        };
        let Some(service) = self.endpoint(kind, lease.entry().class()) else {
            return refused(BrokerFault::Unserved);
        };
        let (service, ledger, leased) = (Arc::clone(service), Arc::clone(&self.ledger), lease.clone());
        self.carried(lease, async move {
            ledger.account(&leased).exchange()?;
            service.ask(kind, question).await.map(BrokerReply::Exchanged)
        })
    }

    /// The configured service of that kind, if a capability of this class may have it.
    fn endpoint(&self, kind: &HandleKind, class: Class) -> Option<&Arc<Service>> {
        self.endpoints.get(kind.instance()).filter(|service| service.settings().reach.serves(class.network))
    }

    fn in_schedules<F>(
        &self,
        lease: &Lease,
        act: impl FnOnce(Arc<Schedules>, Lease) -> F,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>>
    where
        F: Future<Output = Result<BrokerReply, BrokerFault>> + Send + 'static,
    {
        match self.schedules.clone() {
            None => refused(BrokerFault::Unserved),
            Some(schedules) => self.carried(lease, act(schedules, lease.clone())),
        }
    }

    fn in_files(
        &self,
        lease: &Lease,
        act: impl FnOnce(&Files) -> Result<BrokerReply, BrokerFault> + Send + 'static,
    ) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let Some(files) = self.files.clone() else {
            return refused(BrokerFault::Unserved);
        };
        let ending = lease.ending();
        self.carried(lease, async move {
            // It may wait for a thread, and nothing calls it off there: what has not begun by the end does not begin.
            let act = move || if ending.has_come() { Err(BrokerFault::Ended) } else { act(&files) };
            let done = tokio::task::spawn_blocking(act).await;
            done.unwrap_or(Err(BrokerFault::Unavailable))
        })
    }
}

impl core::fmt::Debug for HostBroker {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("HostBroker")
    }
}

impl Broker for HostBroker {
    fn binds_secret(&self, name: &str) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| secrets.bindable(name).is_ok())
    }

    fn secret_source(&self, name: &str) -> Option<SecretSource> {
        self.secrets.as_ref().map(|secrets| secrets.source(name))
    }

    fn serves(&self, kind: HandleKind, class: Class) -> bool {
        match kind.family() {
            HandleFamily::Context | HandleFamily::Clock | HandleFamily::Device | HandleFamily::Journal => true,
            HandleFamily::OwnHistory => self.own.is_some(),
            // Only this kernel counts for us what comes in.
            HandleFamily::Http => cfg!(target_os = "linux"),
            HandleFamily::Endpoint => self.endpoint(&kind, class).is_some(),
            // Only this kernel confines a lookup.
            HandleFamily::Workspace => cfg!(target_os = "linux") && self.files.is_some(),
            HandleFamily::State | HandleFamily::Reviews => self.kept.is_some(),
            HandleFamily::Schedules => self.schedules.is_some(),
            HandleFamily::Agents | HandleFamily::AgentRuns => {
                self.agents.as_ref().is_some_and(|agents| !agents.is_empty())
            }
            HandleFamily::Trees => !self.trees.is_empty() && self.sink.is_some(),
            HandleFamily::Mailer => self.mailer.is_some(),
            HandleFamily::Repository => self.repositories().is_some(),
            // It runs in the workspace, and only this kernel keeps it there.
            HandleFamily::Terminal => terminal::IS_THERE && self.files.is_some(),
            HandleFamily::Processes => terminal::IS_THERE && self.files.is_some() && self.processes.is_some(),
            HandleFamily::Secret => self.secrets.as_ref().is_some_and(|secrets| secrets.has(kind.instance())),
            HandleFamily::ProviderTool | HandleFamily::ProviderLink => match ProviderType::named(kind.instance()) {
                Some(ProviderType::Mcp) => self.providers.as_ref().is_some_and(|providers| !providers.is_empty()),
                Some(elsewhere) => self.edges.as_ref().is_some_and(|edges| edges.has_kind(elsewhere)),
                None => false,
            },
        }
    }

    fn serve(&self, lease: &Lease, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        match request {
            BrokerRequest::Now => {
                let now = self.environment.now();
                Box::pin(core::future::ready(Ok(BrokerReply::Now(now))))
            }
            BrokerRequest::DayBegan => {
                let began = self.environment.day_began(self.environment.now());
                Box::pin(core::future::ready(Ok(BrokerReply::Now(began))))
            }
            BrokerRequest::Device => {
                let (device, services) = (Arc::clone(&self.device), self.endpoints.clone());
                self.carried(lease, async move {
                    // Reading a machine is reading many small files, and a file system that hangs must not hang its caller.
                    let reading = tokio::task::spawn_blocking(move || device.readings());
                    let (readings, endpoints) = tokio::join!(reading, endpoint::answering(&services));
                    let readings = readings.map_err(|_| BrokerFault::Unavailable)?;
                    Ok(BrokerReply::Device(Box::new(DeviceReadings { endpoints, ..readings })))
                })
            }
            BrokerRequest::Append { text } => {
                let appended = self.journal.append(lease.identity(), self.environment.now(), text);
                Box::pin(async move { appended.await.map(|()| BrokerReply::Appended) })
            }
            BrokerRequest::Recall { receipt } => self.recall(lease, receipt),
            BrokerRequest::Reflect { wanted } => self.reflect(lease, wanted),
            BrokerRequest::Connect => self.connect(lease),
            BrokerRequest::Authorities => self.trusted(lease),
            BrokerRequest::Exchange { endpoint, method, path, query, body } => {
                self.exchange(lease, &endpoint, Question { method, path, query, body })
            }
            BrokerRequest::Open { path, sole } => {
                self.in_files(lease, move |files| files.open(&path, sole).map(BrokerReply::Descriptor))
            }
            BrokerRequest::OpenTarget => match target_path(lease) {
                Some(path) => self.in_files(lease, move |files| files.open_outside(&path).map(BrokerReply::Descriptor)),
                None => refused(BrokerFault::MalformedPath),
            },
            BrokerRequest::PlaceTarget => match target_path(lease) {
                Some(path) => self.in_files(lease, move |files| files.place_of(&path).map(BrokerReply::Placed)),
                None => refused(BrokerFault::MalformedPath),
            },
            BrokerRequest::Fingerprint { path } => {
                self.in_files(lease, move |files| files.fingerprint(&path).map(BrokerReply::Fingerprint))
            }
            BrokerRequest::Change { changes } => {
                let leased = lease.clone();
                self.in_files(lease, move |files| {
                    files.change(&changes, |hash| leased.rests_on(hash)).map(|()| BrokerReply::Changed)
                })
            }
            BrokerRequest::List { path } => {
                self.in_files(lease, move |files| files.entries(&path).map(BrokerReply::Listed))
            }
            BrokerRequest::Write { path, content } => {
                self.in_files(lease, move |files| files.write(&path, &content).map(|()| BrokerReply::Written))
            }
            BrokerRequest::Remove { path } => {
                self.in_files(lease, move |files| files.remove(&path).map(|()| BrokerReply::Removed))
            }
            BrokerRequest::Revised { name, revision, path } => match self.repositories().cloned() {
                None => refused(BrokerFault::Unserved),
                Some(found) => self.carried(lease, async move {
                    let read = tokio::task::spawn_blocking(move || found.read(&name, &revision, &path)).await;
                    read.unwrap_or(Err(BrokerFault::Unavailable)).map(|read| BrokerReply::Revised(Box::new(read)))
                }),
            },
            BrokerRequest::Kept { scope, key } => match &self.kept {
                None => refused(BrokerFault::Unserved),
                Some((state, _)) => {
                    let found = state.get(lease.identity(), self.environment.now(), scope, key);
                    Box::pin(async move { found.await.map(BrokerReply::Kept) })
                }
            },
            BrokerRequest::Keep { scope, key, value } => match &self.kept {
                None => refused(BrokerFault::Unserved),
                Some((state, _)) => {
                    let put = state.put(lease.identity(), self.environment.now(), scope, key, value);
                    Box::pin(async move { put.await.map(|()| BrokerReply::Done) })
                }
            },
            BrokerRequest::Review { review } => match &self.kept {
                None => refused(BrokerFault::Unserved),
                Some((_, reviews)) => {
                    let filed = reviews.file(lease.identity(), self.environment.now(), review);
                    Box::pin(async move { filed.await.map(BrokerReply::Filed) })
                }
            },
            BrokerRequest::Foreseen { plan } => match &self.schedules {
                None => refused(BrokerFault::Unserved),
                Some(schedules) => {
                    let foreseen = schedules.foreseen(lease, &plan).map(BrokerReply::Foreseen);
                    Box::pin(core::future::ready(foreseen))
                }
            },
            BrokerRequest::Schedules => self.in_schedules(lease, |schedules, lease| async move {
                schedules.list(lease.identity()).await.map(BrokerReply::Schedules)
            }),
            BrokerRequest::Schedule { plan } => self.in_schedules(lease, |schedules, lease| async move {
                schedules.create(&lease, plan).await.map(BrokerReply::Filed)
            }),
            BrokerRequest::Unschedule { number } => self.in_schedules(lease, move |schedules, lease| async move {
                schedules.cancel(lease.identity(), number).await.map(|()| BrokerReply::Done)
            }),
            request @ (BrokerRequest::Agent { .. }
            | BrokerRequest::RunAgent { .. }
            | BrokerRequest::SpawnAgent { .. }
            | BrokerRequest::AgentRuns
            | BrokerRequest::StopAgent { .. }) => self.of_agents(lease, request),
            BrokerRequest::PlanTree { tree, wanted } => self.in_trees(lease, (tree, wanted), false),
            BrokerRequest::MoveTree { tree, wanted } => self.in_trees(lease, (tree, wanted), true),
            BrokerRequest::Sender { to } => match &self.mailer {
                None => refused(BrokerFault::Unserved),
                Some(mailer) => Box::pin(core::future::ready(mailer.sender(&to).map(BrokerReply::Sender))),
            },
            BrokerRequest::Send { letter } => match self.mailer.clone() {
                None => refused(BrokerFault::Unserved),
                Some(mailer) => self.carried(lease, async move { mailer.send(&letter).await.map(BrokerReply::Sent) }),
            },
            BrokerRequest::Reveal { secret } => match self.secrets.clone() {
                None => refused(BrokerFault::Unserved),
                Some(secrets) => self.carried(lease, async move {
                    let revealed = tokio::task::spawn_blocking(move || secrets.reveal(&secret)).await;
                    revealed.unwrap_or(Err(BrokerFault::Unavailable)).map(BrokerReply::Descriptor)
                }),
            },
            BrokerRequest::Workdir { path } => {
                let lasts = self.processes().is_some_and(Processes::stays);
                self.in_files(lease, move |files| {
                    files.workdir(&path).map(|found| BrokerReply::Workdir(Workdir { lasts, ..found }))
                })
            }
            BrokerRequest::Run { command } => match (self.files.clone(), self.secrets.clone()) {
                (None, _) => refused(BrokerFault::Unserved),
                (Some(files), secrets) => self.carried(lease, async move {
                    terminal::run(&files, secrets, command).await.map(|end| BrokerReply::Ran(Box::new(end)))
                }),
            },
            BrokerRequest::Start { .. }
            | BrokerRequest::Processes
            | BrokerRequest::Inspect { .. }
            | BrokerRequest::Stop { .. } => self.in_background(lease, request),
            BrokerRequest::CallTool { .. } => self.call_tool(lease),
            BrokerRequest::ConnectProvider { .. } => self.connect_provider(lease),
            // The request type grows; what this broker does not know it does not serve.
            _ => refused(BrokerFault::Unserved),
        }
    }
}

/// The path that the lease was judged and approved for.
fn target_path(lease: &Lease) -> Option<String> {
    lease.target().filter(|(kind, _)| *kind == TargetKind::Path).map(|(_, path)| path.to_owned())
}

fn refused(fault: BrokerFault) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
    Box::pin(core::future::ready(Err(fault)))
}

/// A task that ends with whoever waits for it.
struct Carried(JoinHandle<Result<BrokerReply, BrokerFault>>);

impl Future for Carried {
    type Output = Result<BrokerReply, BrokerFault>;

    fn poll(
        mut self: core::pin::Pin<&mut Self>,
        context: &mut core::task::Context<'_>,
    ) -> core::task::Poll<Self::Output> {
        core::pin::Pin::new(&mut self.0).poll(context).map(|done| done.unwrap_or(Err(BrokerFault::Unavailable)))
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.0.abort();
    }
}
