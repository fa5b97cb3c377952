//! The optional configuration file.

mod agents;
mod bindings;
mod channels;
mod edges;
mod error;
mod lines;
mod mail;
mod mcp;
mod providers;
mod repositories;
mod secrets;
mod skills;
mod standing;
mod surface;
mod trees;
mod web;

pub use agents::AgentTable;
pub(crate) use bindings::open_workspace;
pub use bindings::{AuthScheme, Bindings, EndpointTable, HttpTable, WorkspaceTable};
pub(crate) use channels::{ChannelSettings, Form};
pub use channels::{ChannelTable, ChannelsSettings, ChannelsTable, EncodingName, Id};
pub use edges::{EdgeKind, EdgeTable, FallbackWord};
pub use error::ConfigError;
pub use mail::MailTable;
pub use mcp::{McpClientTable, McpList, McpSettings, McpTable};
pub use providers::{McpServerTable, NetworkWord, SideEffectWord, ToolLine};
pub use repositories::RepositoryTable;
pub use secrets::SecretTable;
pub use skills::SkillsTable;
pub use standing::{ApprovalsTable, GrantTable, Span};
pub use surface::{ResultsTable, SurfaceTable};
pub use trees::TreeTable;
pub use web::{WebSettings, WebTable};

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use capability_core::approval::GrantLimits;
use capability_core::contract::is_valid_name;
use capability_core::executor::Limits;
use capability_core::nearest;
use capability_core::registry::Registry;
use capability_core::session::{Declaration, Subject};
use serde::Deserialize;

use crate::data_dir::read_private;
use crate::provider::ServerSettings;
use crate::secrets::SecretSettings;
use bindings::Mistake;
use lines::{KEYS, line_in, line_of};

/// What an operator wrote into `config.toml`; everything has a default, and an unknown key is refused.
///
/// ```toml
/// services = ["ssh.service"]
///
/// [limits]
/// per_turn = 32
/// approval_lifetime_s = 120
/// workers = 64
/// threads = 64
///
/// [isolation]
/// in_process = ["lamp.switch"]
///
/// [approvals]
/// retain = "7d"
///
/// [results]
/// keep = "1h"
///
/// [surface]
/// pinned = ["pihole.summary"]
///
/// [grants."repository.read"]
/// max = "30m"
/// uses = 20
///
/// [subjects."agent:kitchen"]
/// capabilities = ["system.health"]
///
/// [http]
/// allow = ["nas.lan:443"]
/// ca_file = "/etc/capability/home-ca.pem"
///
/// [workspace]
/// root = "/home/me/notes"
///
/// [endpoints.searxng]
/// url = "https://search.example.com"
///
/// [endpoints.pihole]
/// url = "https://192.168.1.2"
/// reach = "device"
/// server_name = "pi.hole"
/// ca_file = "/etc/capability/pihole-ca.pem"
/// auth = "pihole"
/// password_file = "/etc/capability/pihole-password"
///
/// [repositories.notes]
/// path = "/srv/git/notes.git"
///
/// [repositories.site]
/// url = "https://git.example.com/site.git"
///
/// [trees.site]
/// path = "/srv/git/site.git"
/// live = "refs/heads/live"
/// from = ["refs/heads/main"]
///
/// [agents.critic]
/// subject = "agent:critic"
/// command = ["/usr/local/bin/critic", "--quiet"]
/// timeout = "10m"
///
/// [mail]
/// server = "mail.example.org:465"
/// user = "house"
/// password_file = "/etc/capability/mail-password"
/// from = "house@example.org"
/// recipients = ["ada@example.org"]
///
/// [secrets.deploy_token]
/// dotenv = "/etc/capability/deploy.env"
/// key = "DEPLOY_TOKEN"
/// expires = "2027-01-31T00:00:00Z"
///
/// [mcp.servers.docs]
/// command = ["/usr/local/bin/docs-server", "--stdio"]
/// env = ["TZ"]
///
/// [web]
/// listen = "127.0.0.1:8722"
/// hosts = ["capability.home"]
///
/// [mcp]
/// listen = "127.0.0.1:8723"
/// turn = "1m"
/// patience = "45s"
///
/// [mcp.clients.desktop]
/// person = "anna"
///
/// [channels]
/// listen = "127.0.0.1:8724"
///
/// [channels.team]
/// kind = "slack"
/// subject = "agent:kitchen"
/// secret = "slack_signing"
/// users = ["U024BE7LH"]
/// rooms = ["*"]
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Services whose state `Device` readings tell, by the name that the machine's service manager knows.
    pub services: Vec<String>,
    /// Limits that hold for every capability.
    pub limits: ConfiguredLimits,
    /// Where bodies run.
    pub isolation: ConfiguredIsolation,
    /// What is kept of approved calls.
    pub approvals: ApprovalsTable,
    /// How long results can be had again by their own sessions.
    pub results: ResultsTable,
    /// Which tools a model always sees.
    pub surface: SurfaceTable,
    /// The capabilities that may have standing answers, by name; none, unless it is said.
    pub grants: BTreeMap<String, GrantTable>,
    /// What each subject other than the local one may ask for; a subject without a manifest may ask for nothing. The local
    /// one declares everything, and a manifest for it is refused.
    pub subjects: BTreeMap<Subject, Manifest>,
    /// What `Http` may connect to beyond public hosts.
    pub http: HttpTable,
    /// The services behind `Endpoint` handles, by name.
    pub endpoints: BTreeMap<String, EndpointTable>,
    /// The directory behind `Workspace` handles.
    pub workspace: Option<WorkspaceTable>,
    /// The server behind `Mailer` handles.
    pub mail: Option<MailTable>,
    /// The repositories behind `Repository` handles, by name.
    pub repositories: BTreeMap<String, RepositoryTable>,
    /// Where secrets come from that do not lie in `secrets` in the data directory, and when any of them ends; by name.
    pub secrets: BTreeMap<String, SecretTable>,
    /// Who carries out capabilities beside this host, by the names that rules and the log know them by.
    pub edges: BTreeMap<String, EdgeTable>,
    /// Whether another one stands in for a first choice that cannot be reached, by capability; none does, unless it is said.
    pub fallback: BTreeMap<String, FallbackWord>,
    /// Who carries out a capability before everybody else: `compiled`, `edge:NAME` or `relay:NAME`, by capability.
    pub bind: BTreeMap<String, String>,
    /// Where skills lie.
    pub skills: SkillsTable,
    /// The trees behind `Trees` handles, by name.
    pub trees: BTreeMap<String, TreeTable>,
    /// The agents behind `Agents` handles, by name.
    pub agents: BTreeMap<String, AgentTable>,
    /// Where the approval centre listens.
    pub web: WebTable,
    /// How programs that speak MCP are served, and the servers whose tools can be called.
    pub mcp: McpTable,
    /// By which something may come in from outside.
    pub channels: ChannelsTable,
    /// What stands behind the handles, checked.
    #[serde(skip)]
    bindings: Bindings,
    /// `secrets`, checked.
    #[serde(skip)]
    secret_settings: BTreeMap<String, SecretSettings>,
    /// `mcp.servers`, checked.
    #[serde(skip)]
    mcp_servers: BTreeMap<String, ServerSettings>,
    /// `web`, checked.
    #[serde(skip)]
    web_settings: WebSettings,
    /// `mcp`, checked.
    #[serde(skip)]
    mcp_settings: McpSettings,
    /// `channels`, checked.
    #[serde(skip)]
    channels_settings: ChannelsSettings,
    /// Where the names of `[isolation]` stand: they are checked against the registry, which is not at hand here.
    #[serde(skip)]
    named_in: Option<usize>,
    /// The text, for the lines of what is checked against the registry.
    #[serde(skip)]
    text: String,
    /// Where the tables and keys of `[grants]` stand, for the same reason.
    #[serde(skip)]
    grants_in: BTreeMap<(String, &'static str), usize>,
}

/// Where bodies run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfiguredIsolation {
    /// Capabilities that run on a thread of the host's own process, of every version: for a client library that must open its
    /// own sockets or files. Nothing but the review of their source keeps them from anything the host can reach.
    pub in_process: BTreeSet<String>,
}

/// What one subject declares.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Capability names, each exact, with a scope as in `mcp.call:docs`, or with any scope as in `mcp.call:*`.
    pub capabilities: Vec<Declaration>,
}

/// Limits that hold for every capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfiguredLimits {
    /// The most invocations one turn may have, 1 to 1000.
    pub per_turn: u32,
    /// How many seconds a pending invocation waits for its answer and its run, 10 to 3600.
    pub approval_lifetime_s: u32,
    /// The most workers that serve calls at a time, 1 to 1024.
    pub workers: u32,
    /// The most bodies that run in the host's own process at a time, 1 to 1024.
    pub threads: u32,
}

impl Default for ConfiguredLimits {
    fn default() -> Self {
        Self {
            per_turn: 32,
            approval_lifetime_s: 120,
            workers: crate::runner::MAX_WORKERS,
            threads: crate::runner::MAX_THREADS,
        }
    }
}

impl ConfiguredLimits {
    /// As the executor takes them.
    #[must_use]
    pub fn for_executor(self) -> Limits {
        Limits { per_turn: self.per_turn, approval_lifetime: Duration::from_secs(self.approval_lifetime_s.into()) }
    }
}

/// The most services that are listed.
const MAX_SERVICES: usize = 32;

impl Config {
    /// Reads the file; all defaults when there is none.
    ///
    /// # Errors
    /// [`ConfigError`] names file, line, and what would be right. A file that is wrong anywhere counts nowhere.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        match read_private(path).map_err(ConfigError::File)? {
            None => Ok(Self::default()),
            Some(bytes) => Self::parse(path, &bytes),
        }
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let wrong = |line, what, help| ConfigError::Wrong { path: path.to_owned(), line, what, help };
        let text =
            core::str::from_utf8(bytes).map_err(|_| wrong(None, "it is not UTF-8 text".into(), "save it as UTF-8"))?;
        let mistaken = |mistake: Mistake| wrong(line_in(text, &mistake.table, mistake.key), mistake.what, mistake.help);
        let mut config: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.lines().count().max(1));
            // A span that starts a line has its line break among what comes before.
            let line = match error.span().and_then(|span| text.get(..span.start)) {
                Some(before) if before.ends_with('\n') => line.map(|line| line + 1),
                _ => line,
            };
            wrong(line, error.message().trim_end().replace('\n', "; "), KEYS)
        })?;
        let ConfiguredLimits { per_turn, approval_lifetime_s, workers, threads } = config.limits;
        for (name, value, least, most) in [
            ("per_turn", per_turn, 1, 1000),
            ("approval_lifetime_s", approval_lifetime_s, 10, 3600),
            ("workers", workers, 1, 1024),
            ("threads", threads, 1, 1024),
        ] {
            if !(least..=most).contains(&value) {
                return Err(wrong(
                    line_of(text, name),
                    format!("`{name}` is {value}: it is {least} to {most}"),
                    "write a number in that range, or leave the key out",
                ));
            }
        }
        if config.subjects.contains_key(&Subject::local()) {
            let line = text.lines().position(|line| line.contains("subjects") && line.contains("local"));
            return Err(wrong(
                line.map(|at| at + 1),
                "a manifest is written for `local`: `local` declares everything".to_owned(),
                "remove it, and give whatever should be held to a manifest a subject of its own",
            ));
        }
        if let Some(name) = config.isolation.in_process.iter().find(|name| !is_valid_name(name)) {
            return Err(wrong(
                line_of(text, "in_process"),
                format!("`{}` is no capability's name", name.escape_default()),
                "write names as `capability list` shows them, without a version",
            ));
        }
        let service = |name: &&String| {
            let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.@:".contains(&b);
            !(1..=128).contains(&name.len()) || !name.bytes().all(allowed) || !name.contains('.')
        };
        if let Some(name) = config.services.iter().find(service) {
            return Err(wrong(
                line_of(text, "services"),
                format!("`{}` is no service name", name.escape_default()),
                "write the unit's full name, as in `ssh.service`",
            ));
        }
        if config.services.len() > MAX_SERVICES {
            return Err(wrong(
                line_of(text, "services"),
                format!("{} services are listed: at most {MAX_SERVICES} are", config.services.len()),
                "list those that matter most",
            ));
        }
        config.approvals.check().and_then(|()| config.results.check()).map_err(mistaken)?;
        for name in config.grants.keys() {
            for key in ["", "max", "uses"] {
                // No key at all: the table's own line.
                let line = line_in(text, &format!("grants.{name}"), if key.is_empty() { "[" } else { key });
                config.grants_in.extend(line.map(|line| ((format!("grants.{name}"), key), line)));
            }
        }
        config.named_in = line_of(text, "in_process");
        config.bindings = Bindings::of(&config.http, &config.endpoints, config.workspace.as_ref()).map_err(mistaken)?;
        config.mcp_servers = providers::checked(&config.mcp.servers).map_err(mistaken)?;
        edges::checked(&config).and_then(|()| config.skills.check()).map_err(mistaken)?;
        text.clone_into(&mut config.text);
        config.bindings.repositories = repositories::checked(&config.repositories).map_err(mistaken)?;
        config.secret_settings = secrets::checked(&config.secrets).map_err(mistaken)?;
        config.bindings.trees = trees::checked(&config.trees).map_err(mistaken)?;
        config.bindings.agents = agents::checked(&config.agents).map_err(mistaken)?;
        if let Some(table) = &config.mail {
            let mail = table.checked();
            config.bindings.mail =
                Some(mail.map_err(|(key, what, help)| wrong(line_in(text, "mail", key), what, help))?);
        }
        config.web_settings = WebSettings::of(&config.web).map_err(mistaken)?;
        config.mcp_settings = McpSettings::of(&config.mcp).map_err(mistaken)?;
        config.channels_settings = ChannelsSettings::of(&config.channels).map_err(mistaken)?;
        Ok(config)
    }

    /// Whether every name that places a body is a capability's: one that is none would leave in a sandbox, or one day take
    /// out of it, what nobody looked at.
    ///
    /// # Errors
    /// [`ConfigError`] names what is written and what is close to it.
    pub(crate) fn check_names(&self, path: &Path, registered: &[&str]) -> Result<(), ConfigError> {
        let unknown = |name: &&String| !registered.contains(&name.as_str());
        let Some(name) = self.isolation.in_process.iter().find(unknown) else { return Ok(()) };
        let near = nearest(name, registered.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("; `{near}` is one that it has"));
        Err(ConfigError::Wrong {
            path: path.to_owned(),
            line: self.named_in,
            what: format!("`in_process` names `{name}`, and this build has no such capability{near}"),
            help: "write names as `capability list` shows them, without a version",
        })
    }

    /// Whether what may have standing answers exists, and may: a table that can never count is a mistake.
    ///
    /// # Errors
    /// [`ConfigError`] names what is written and what would be right.
    pub(crate) fn check_grants(&self, path: &Path, registry: &Registry) -> Result<(), ConfigError> {
        for (name, table) in &self.grants {
            standing::check_grant(name, *table, registry).map_err(|mistake| ConfigError::Wrong {
                path: path.to_owned(),
                line: self.grants_in.get(&(mistake.table, mistake.key)).copied(),
                what: mistake.what,
                help: mistake.help,
            })?;
        }
        Ok(())
    }

    /// The servers whose tools can be called.
    pub(crate) const fn mcp_servers(&self) -> &BTreeMap<String, ServerSettings> {
        &self.mcp_servers
    }

    /// What may have standing answers, as the executor takes it.
    #[must_use]
    pub fn grant_limits(&self) -> GrantLimits {
        self.grants.iter().fold(GrantLimits::off(), |limits, (name, table)| limits.with(name, table.limit()))
    }

    /// What stands behind the handles.
    #[must_use]
    pub const fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// Where the approval centre listens.
    #[must_use]
    pub const fn web(&self) -> &WebSettings {
        &self.web_settings
    }

    /// How programs that speak MCP are served.
    #[must_use]
    pub const fn mcp(&self) -> &McpSettings {
        &self.mcp_settings
    }

    /// By which something may come in from outside.
    #[must_use]
    pub const fn channels(&self) -> &ChannelsSettings {
        &self.channels_settings
    }
}

#[cfg(test)]
mod tests;
