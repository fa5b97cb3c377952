//! A whole host.

mod providers;
mod results;
mod running;
mod skills;

use std::path::PathBuf;
use std::sync::Arc;

use capability_core::Environment;
use capability_core::approval::{ApprovalId, Filed, Operator};
use capability_core::audit::{Record, SettingKey, Sink, Submission};
use capability_core::executor::{Executor, Parts, Setup};
use capability_core::policy::{PolicyRevision, Registered};
use capability_core::provider::HealthWatch;
use capability_core::registry::Registry;
use capability_core::session::{Principal, SessionId, SessionMint, SlotPath, Subject};
use capability_core::store::{Approvals as _, MemoryResults, StoreFault};

use crate::agents::Agents;
use crate::audit_log::{AuditLog, Opened, VerifierKey};
use crate::broker::{Bound, HostBroker, Resolver, SystemResolver, machine};
use crate::config::{Config, ConfigError, open_workspace};
use crate::data_dir::POLICY_FILE;
use crate::data_dir::{DataDir, OwnerLock};
use crate::environment::HostEnvironment;
use crate::error::{HostError, SettingError};
use crate::mcp::Clients;
use crate::operator::Credential;
use crate::policy::{FilePolicy, Places, PolicyError, RequiredPolicy};
use crate::protocol::SecretShown;
use crate::provider::{HostEdges, HostProviders, ProviderSetup};
use crate::runner::{HostRunner, Placement};
use crate::schedule::Schedules;
use crate::secrets::{Knowing, Secrets, credential_state, private_text};
use crate::skill::HostSkills;
use crate::store::sqlite::{SqliteApprovals, SqliteInbox, SqliteJournal};
use crate::store::{Database, FileOptIns};
use crate::subjects::Manifests;

/// What a host is opened with.
#[derive(Debug, Clone)]
pub struct HostOptions<'a> {
    /// The data directory; see [`DataDir::default_path`].
    pub data_dir: PathBuf,
    /// The packages whose capabilities this binary invites.
    pub packages: &'a [&'a str],
    /// Whether capabilities run in a sandbox that does not hold everywhere on this machine. Every event says so then.
    pub accept_degraded: bool,
}

/// A host: the one owner of a data directory, with an executor over durable stores, a chained log, bodies in sandboxed
/// processes, and the operator credential.
///
/// Dropping it and the last clone of its executor writes what was submitted to the log and gives the directory free.
pub struct Host {
    executor: Executor,
    sessions: SessionMint,
    operators: Operators,
    opt_ins: Arc<FileOptIns>,
    state_key: [u8; 32],
    clients: Clients,
    policy: Arc<FilePolicy>,
    /// Told whenever what somebody can do may have changed, but for files: those are looked at.
    changes: tokio::sync::watch::Sender<u64>,
    providers: Arc<HostProviders>,
    edges: Arc<HostEdges>,
    skills: Arc<HostSkills>,
    agents: Arc<Agents>,
    /// Told whenever something comes in from outside.
    arrivals: tokio::sync::watch::Sender<u64>,
    inbox: SqliteInbox,
    journal: SqliteJournal,
    results: Arc<MemoryResults>,
    health: Arc<HealthWatch>,
    database: Database,
    approvals: SqliteApprovals,
    runner: Arc<HostRunner>,
    broker: Arc<HostBroker>,
    environment: Arc<dyn Environment>,
    config: Config,
    manifests: Manifests,
    opened: Opened,
    log: Arc<OwnedLog>,
    data_dir: DataDir,
}

/// The log together with the right to write it: the directory stays owned for as long as anything can be submitted.
struct OwnedLog {
    log: AuditLog,
    // INVARIANT: after `log`, since fields are dropped in this order and the log still writes when it is.
    _owner: OwnerLock,
}

impl Sink for OwnedLog {
    fn submit(&self, record: Record) -> Submission {
        self.log.submit(record)
    }
}

/// Every subject that has a manifest, wherever it stands.
fn known_subjects(config: &Config, manifests: &Manifests) -> Vec<Subject> {
    let mut known: Vec<_> = config.subjects.keys().cloned().chain(manifests.subjects()).collect();
    known.sort();
    known.dedup();
    known
}

impl Host {
    /// Takes the data directory, opens everything in it, collects the registry and builds the executor.
    ///
    /// # Errors
    /// [`HostError`] says what stands against it and what to do. Nothing runs then.
    pub fn open(options: HostOptions<'_>) -> Result<Self, HostError> {
        let registry = Registry::collect(options.packages)?;
        let environment: Arc<dyn Environment> = Arc::new(HostEnvironment::new()?);
        let data_dir = DataDir::open(&options.data_dir)?;
        let owner = data_dir.lock()?;
        let config = Config::read(&data_dir.config())?;
        let names: Vec<_> = registry.iter().map(|held| held.entry().name().as_str()).collect();
        config.check_names(&data_dir.config(), &names)?;
        config.check_grants(&data_dir.config(), &registry)?;
        config.check_edges(&data_dir.config(), &registry)?;
        let manifests = Manifests::new(data_dir.subjects(), &registry, config.mcp.servers.keys().cloned().collect());
        let declared = config.subjects.values().flat_map(|manifest| &manifest.capabilities);
        manifests.check(&data_dir.config(), declared)?;
        config.check_channels(&data_dir.config(), &manifests.subjects())?;
        let bound = bound(&config, &data_dir)?;
        let database = Database::open(&data_dir.database())?;
        let key = data_dir.digest_key()?;
        let opt_ins = Arc::new(FileOptIns::open(data_dir.opt_ins())?);
        let state_key = data_dir.key_for("state of a request of an MCP client")?;
        let clients = Clients::open(data_dir.clients())?;
        let credential = Credential::open(data_dir.operator(), Arc::clone(&environment))?;
        // Last: from here on there is something to record.
        let (log, opened) = AuditLog::open(&data_dir.audit())?;
        let Opened { records, torn_bytes, unfinished_intents } = opened;
        tracing::info!(records, torn_bytes, unfinished_intents, "the data directory is ours");
        let log = Arc::new(OwnedLog { log, _owner: owner });
        let policy = Arc::new(FilePolicy::open(
            Places { rules: data_dir.policy(), copy: data_dir.policy_in_force() },
            registry.iter().map(|held| held.entry()).collect(),
            known_subjects(&config, &manifests),
            Arc::clone(&log) as _,
            Arc::clone(&environment),
        )?);
        let entries: Vec<_> = registry.iter().map(|held| held.entry()).collect();
        let required = Arc::new(RequiredPolicy::new(Arc::clone(&policy), &Registered::of(entries.iter().copied()))?);
        let folder = skills_folder(&config, &data_dir)?;
        let skills = HostSkills::open(folder, database.skills(), Arc::clone(&required), entries)?;
        let (log_of_health, kept) = (Arc::clone(&log) as _, Arc::new(database.health()));
        // What cannot be read now is tried again later: a host runs without it.
        let health = Arc::new(match kept.kept() {
            Ok(known) => HealthWatch::restored(log_of_health, kept, known),
            Err(_) => HealthWatch::new(log_of_health, kept),
        });
        let device = machine(data_dir.path(), config.services.clone());
        let journal = database.journal();
        let changes = tokio::sync::watch::Sender::new(0);
        let resolver: Arc<dyn Resolver> = Arc::new(SystemResolver::default());
        let providers = Arc::new(HostProviders::open(ProviderSetup {
            servers: config.mcp_servers().clone(),
            definitions: database.definitions(),
            credentials: data_dir.credentials(),
            resolver: Arc::clone(&resolver),
            environment: Arc::clone(&environment),
            sink: Arc::clone(&log) as _,
            changed: noting(changes.clone()),
            data_dir: data_dir.path().to_owned(),
        })?);
        let edges = Arc::new(HostEdges::open(&config, data_dir.edges(), Arc::clone(&providers) as _)?);
        let broker = HostBroker::new(Arc::clone(&environment), device, journal.clone());
        let results = Arc::new(MemoryResults::new(config.results.keep.0));
        let broker = broker.keeping(database.state(), database.reviews());
        let names = registry.iter().map(|held| held.entry().name().as_str().to_owned());
        let broker = broker.scheduling(Schedules::new(database.schedules(), Arc::clone(&environment), names.collect()));
        let agents = Arc::new(Agents::new(
            config.bindings().agents.clone(),
            data_dir.path().to_owned(),
            Arc::clone(&environment),
            Arc::clone(&log) as _,
        ));
        let broker = broker.starting(Arc::clone(&agents)).recording(Arc::clone(&log) as _);
        let broker = broker.with(bound, resolver).providing(Arc::clone(&providers), Arc::clone(&edges));
        let broker = Arc::new(broker.remembering(Arc::clone(&results) as _, data_dir.audit()));
        let runner = Arc::new(HostRunner::new(Placement {
            workers: config.limits.workers,
            threads: config.limits.threads,
            in_process: config.isolation.in_process.clone(),
            accept_degraded: options.accept_degraded,
        }));
        let Parts { executor, sessions, operators } = Executor::build(Setup {
            registry,
            runner: Arc::clone(&runner) as _,
            broker: Arc::clone(&broker) as _,
            sink: Arc::clone(&health) as Arc<dyn Sink>,
            approvals: Arc::new(database.approvals_retaining(config.approvals.retain.map(|span| span.0))),
            turns: Arc::new(database.turns()),
            opt_ins: Arc::clone(&opt_ins) as _,
            grants: Arc::new(database.grants()),
            grant_limits: config.grant_limits(),
            history: Arc::new(journal.clone()),
            policy: required as _,
            providers: edges.providers(),
            environment: Arc::clone(&environment),
            key,
            limits: config.limits.for_executor(),
        });
        executor.redact_with(Arc::new(Knowing));
        if !config.results.keep.0.is_zero() {
            executor.keep_results(Arc::clone(&results) as _);
        }
        let operators = Operators { mint: operators, credential, executor: executor.clone() };
        let host = Self {
            executor,
            sessions,
            operators,
            opt_ins,
            state_key,
            clients,
            policy,
            changes,
            providers,
            edges,
            skills: Arc::new(skills),
            agents,
            arrivals: tokio::sync::watch::Sender::new(0),
            inbox: database.inbox(),
            journal,
            results,
            health,
            approvals: database.approvals(),
            database,
            runner,
            broker,
            environment,
            config,
            manifests,
            opened,
            log,
            data_dir,
        };
        host.learn_secrets();
        Ok(host)
    }

    /// How tools have been doing.
    #[must_use]
    pub fn health(&self) -> &HealthWatch {
        &self.health
    }

    /// The executor: every request of anybody goes through it.
    #[must_use]
    pub const fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Opens sessions. Whoever calls it has authenticated the identity it passes.
    #[must_use]
    pub const fn sessions(&self) -> &SessionMint {
        &self.sessions
    }

    /// A fresh session id.
    #[must_use]
    pub fn new_session_id(&self) -> SessionId {
        let mut bytes = [0; 16];
        self.environment.fill_random(&mut bytes);
        SessionId::from_bytes(bytes)
    }

    /// Admits operators who prove the credential.
    #[must_use]
    pub const fn operators(&self) -> &Operators {
        &self.operators
    }

    /// The switches of external families.
    #[must_use]
    pub fn opt_ins(&self) -> &FileOptIns {
        &self.opt_ins
    }

    /// What seals the words that a program brings along with a repeated call.
    pub(crate) const fn state_key(&self) -> &[u8; 32] {
        &self.state_key
    }

    /// The programs that are let in by a token.
    pub(crate) const fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The operator's rules.
    #[must_use]
    pub fn policy(&self) -> &FilePolicy {
        &self.policy
    }

    /// Turns a family of external capabilities on or off: recorded first, changed second.
    ///
    /// # Errors
    /// [`SettingError`]; nothing has changed then.
    pub async fn set_opt_in(&self, operator: &Operator, family: &str, on: bool) -> Result<(), SettingError> {
        let names = || self.executor.registry().iter().map(|held| held.entry().name());
        let name = names().find(|name| name.family() == family).ok_or(SettingError::UnknownFamily)?;
        let key = SettingKey::OptIn { family: name.into(), on };
        self.executor.record_setting(operator, key).await?;
        self.opt_ins.set(family, on)?;
        self.note_change();
        Ok(())
    }

    /// Lets rules come into force that let through more than those that are: recorded first, in force second. `digest` names
    /// the text that the operator looked at.
    ///
    /// # Errors
    /// [`SettingError`]; nothing has changed then.
    pub async fn accept_policy(&self, operator: &Operator, digest: &str) -> Result<PolicyRevision, SettingError> {
        let waiting = self.policy.standing().waiting.filter(|waiting| waiting.digest() == digest);
        let waiting = waiting.ok_or_else(|| PolicyError::NotThat { path: self.data_dir.policy() })?;
        let revision = waiting.policy.revision();
        self.executor.record_setting(operator, SettingKey::PolicyAccepted { revision }).await?;
        self.policy.accept(&waiting)?;
        self.note_change();
        Ok(revision)
    }

    /// Tells whoever [`watches`](Self::changes) that what somebody can do may have changed.
    pub fn note_change(&self) {
        noting(self.changes.clone())();
    }

    /// A number that changes whenever a switch, a grant or the accepted rules do.
    #[must_use]
    pub fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Where bodies run.
    #[must_use]
    pub const fn runner(&self) -> &Arc<HostRunner> {
        &self.runner
    }

    /// The subjects' journals, for operators.
    #[must_use]
    pub const fn journal(&self) -> &SqliteJournal {
        &self.journal
    }

    /// What came in from outside, for the subjects it is for.
    #[must_use]
    pub const fn inbox(&self) -> &SqliteInbox {
        &self.inbox
    }

    /// Told whenever something comes in from outside. The number means nothing but that it changed.
    #[must_use]
    pub(crate) const fn arrivals(&self) -> &tokio::sync::watch::Sender<u64> {
        &self.arrivals
    }

    /// Where records go.
    pub(crate) fn sink(&self) -> Arc<dyn Sink> {
        Arc::clone(&self.log) as _
    }

    /// Erases a subject's whole inbox, and says how many entries it had: recorded first, erased second. An empty one is left
    /// alone and leaves no record.
    ///
    /// # Errors
    /// [`SettingError`]; nothing was erased then.
    pub async fn erase_inbox(&self, operator: &Operator, subject: &Subject) -> Result<usize, SettingError> {
        if self.inbox.held(subject).await?.entries == 0 {
            return Ok(0);
        }
        let key = SettingKey::InboxErased { subject: subject.clone() };
        self.executor.record_setting(operator, key).await?;
        Ok(self.inbox.erase(subject).await?)
    }

    /// The content of one approval, while it has any, without a look at what is due: for showing many of them at once.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(crate) async fn filed(&self, _: &Operator, id: ApprovalId) -> Result<Option<Filed>, StoreFault> {
        Ok(self.approvals.find(id).await?.and_then(|found| found.filed))
    }

    /// The slot in which a subject asked for this, and for whom it did; `None` when there is no such question of that subject, or nothing of it is
    /// left.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(crate) async fn asked_in(
        &self,
        subject: &Subject,
        id: ApprovalId,
    ) -> Result<Option<(Option<SlotPath>, Vec<Principal>)>, StoreFault> {
        let found = self.approvals.find(id).await?.filter(|found| found.summary.identity.subject == *subject);
        Ok(found.and_then(|found| found.filed).map(|Filed { approval, .. }| (approval.slot, approval.behind)))
    }

    /// Erases a subject's whole journal, and says how many entries it had: recorded first, erased second. An empty one is
    /// left alone and leaves no record.
    ///
    /// # Errors
    /// [`SettingError`]; nothing was erased then.
    pub async fn erase_journal(&self, operator: &Operator, subject: &Subject) -> Result<usize, SettingError> {
        if self.journal.count(subject).await? == 0 {
            return Ok(0);
        }
        let key = SettingKey::JournalErased { subject: subject.clone() };
        self.executor.record_setting(operator, key).await?;
        Ok(self.journal.erase(subject).await?)
    }

    /// The wall clock and randomness the host uses.
    #[must_use]
    pub const fn environment(&self) -> &Arc<dyn Environment> {
        &self.environment
    }

    /// The secrets of this host.
    pub(crate) fn secrets(&self) -> Secrets {
        Secrets::new(self.data_dir.secrets(), Arc::new(self.config.secret_settings().clone()))
    }

    /// Every secret and every credential, without a word of them.
    pub(crate) fn secret_states(&self) -> Vec<SecretShown> {
        let mut states = self.secrets().states();
        let of_services = self.config.credential_files().into_iter().filter(|(name, _)| !name.starts_with("secrets."));
        states.extend(of_services.map(|(name, file)| credential_state(name, &file)));
        states
    }

    /// Reads every secret that there is now, so that whatever goes out from here on holds none of them: one that was changed
    /// since it was last used among them.
    pub(crate) fn learn_secrets(&self) {
        self.secrets().learn();
        for (_, file) in self.config.credential_files() {
            let _ = private_text(&file);
        }
    }

    /// The configuration that was read at start.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The database, for what makes calls by itself.
    pub(crate) const fn database(&self) -> &Database {
        &self.database
    }

    /// The agents that the operator configured, and their turns.
    pub(crate) const fn agents(&self) -> &Arc<Agents> {
        &self.agents
    }

    /// The manifests of its subjects.
    pub(crate) const fn manifests(&self) -> &Manifests {
        &self.manifests
    }

    /// Every subject that has a manifest, in order.
    #[must_use]
    pub fn subjects(&self) -> Vec<Subject> {
        known_subjects(&self.config, &self.manifests)
    }

    /// The data directory.
    #[must_use]
    pub const fn data_dir(&self) -> &DataDir {
        &self.data_dir
    }

    /// The audit log's directory: for [`crate::audit_log::verify`], [`crate::audit_log::tail`] and
    /// [`crate::audit_log::stats`].
    #[must_use]
    pub fn audit_dir(&self) -> PathBuf {
        self.data_dir.audit()
    }

    /// This host stays until it is told to end, and does not end with a call that it was opened for: from now on commands can be
    /// left running in it.
    pub fn stay(&self) {
        self.broker.stay();
    }

    /// Ends what was left running, and gives back what the host holds at services outside, such as sessions. To be awaited before it
    /// is dropped; without it those end by themselves, later.
    pub async fn close(&self) {
        // What it does not take now it has not seen: the counts of the last minute.
        let _ = self.health.settle().await;
        self.providers.close().await;
        self.broker.close().await;
    }

    /// What the audit log held when the host opened it.
    #[must_use]
    pub const fn opened(&self) -> Opened {
        self.opened
    }

    /// Whether room for the audit log is short: no call begins until there is some.
    #[must_use]
    pub fn is_log_short(&self) -> bool {
        self.log.log.is_short()
    }

    /// The public half of the key that signs the audit log's checkpoints.
    #[must_use]
    pub fn verifier_key(&self) -> &VerifierKey {
        self.log.log.verifier_key()
    }

    /// Whether the audit log failed: everything is refused until the host starts anew.
    #[must_use]
    pub fn is_log_poisoned(&self) -> bool {
        self.log.log.is_poisoned()
    }
}

/// Tells whoever watches that what somebody can do may have changed.
fn noting(changes: tokio::sync::watch::Sender<u64>) -> Box<dyn Fn() + Send + Sync> {
    Box::new(move || changes.send_modify(|count| *count = count.wrapping_add(1)))
}

mod kept;
mod operators;
mod repositories;

pub use operators::Operators;
pub use running::Running;

/// What the operator bound to handles, opened.
fn bound(config: &Config, data_dir: &DataDir) -> Result<Bound, HostError> {
    let bindings = config.bindings();
    let workspace = match &bindings.workspace {
        None => None,
        Some(root) => {
            let opened = open_workspace(&data_dir.config(), root, data_dir.path(), &config.credential_files())?;
            // Whoever put it there takes it for rules that hold.
            if root.join(POLICY_FILE).symlink_metadata().is_ok() {
                tracing::warn!(
                    "the `policy.toml` at the workspace's root is not read: rules stand in the data directory"
                );
            }
            Some(opened)
        }
    };
    Ok(Bound {
        endpoints: bindings.endpoints.clone(),
        allowed: bindings.allowed.clone(),
        authorities: bindings.authorities.clone(),
        workspace,
        secrets: Some(data_dir.secrets()),
        named_secrets: config.secret_settings().clone(),
        mail: bindings.mail.clone(),
        trees: bindings.trees.clone(),
        repositories: Some((bindings.repositories.clone(), data_dir.repositories())),
        own: config.credential_files().into_iter().map(|(_, file)| file).chain([data_dir.path().to_owned()]).collect(),
    })
}

/// Where skills lie: outside the workspace, which those who propose calls may write.
fn skills_folder(config: &Config, data_dir: &DataDir) -> Result<Option<PathBuf>, HostError> {
    let Some(folder) = &config.skills.folder else { return Ok(None) };
    let real = |path: &std::path::Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(root) = &config.bindings().workspace
        && (real(folder).starts_with(real(root)) || real(root).starts_with(real(folder)))
    {
        return Err(HostError::Config(ConfigError::Wrong {
            path: data_dir.config(),
            line: None,
            what: "`folder` under `[skills]` and the workspace are one in the other".to_owned(),
            help: "name a folder beside the workspace",
        }));
    }
    Ok(Some(folder.clone()))
}

impl core::fmt::Debug for Host {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Host({})", self.data_dir.path().display())
    }
}

/// Who operators are called in the log: there is one credential.
pub(crate) fn operator_name() -> Subject {
    "operator".parse().unwrap_or_else(|_| Subject::local())
}

#[cfg(test)]
mod tests;
