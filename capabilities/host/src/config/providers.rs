//! `[mcp.servers]`: servers whose tools can be called.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use capability_core::contract::{Class, Network, SideEffect};
use capability_core::handle::is_configured_name;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;

use super::bindings::{EndpointTable, Mistake, Wrong};
use crate::broker::Reach;
use crate::hex;
use crate::provider::mcp::{HttpSettings, ProgramSettings};
use crate::provider::{ClassLine, Scope, ServerSettings, Start, Way};

/// `[mcp.servers.NAME]`: one server, a program of this machine or an address.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServerTable {
    /// The program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Variables that the program is given as the host has them, by name.
    #[serde(default)]
    pub env: Vec<String>,
    /// Variables that the program is given.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Variables that the program is given, each from a file that is the host's alone.
    #[serde(default)]
    pub secrets: BTreeMap<String, PathBuf>,
    /// Where the program starts; in an empty home of its own without.
    pub cwd: Option<PathBuf>,
    /// The address of a server that is asked over HTTP.
    pub url: Option<String>,
    /// Headers that go with every request to it.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The file that holds its bearer token.
    pub token_file: Option<PathBuf>,
    /// A PEM file of the authorities that its certificate may come from, instead of the public ones.
    pub ca_file: Option<PathBuf>,
    /// The name its certificate is for, when that is not the host's.
    pub server_name: Option<String>,
    /// Whose it is: everybody's who declares it, or nobody's until a session names it.
    #[serde(default)]
    pub scope: Scope,
    /// The capabilities of this build that it carries out for its session, by name, each by which of its tools.
    #[serde(default)]
    pub carries_out: BTreeMap<String, String>,
    /// When it is started or contacted.
    #[serde(default)]
    pub start: Start,
    /// How many seconds connecting and listing may take in all, 1 to 60; 10 without.
    pub discovery_s: Option<u32>,
    /// How often a server that is asked over HTTP is looked at while nobody calls, in seconds, 1 to 3600; 60 without.
    pub check_s: Option<u32>,
    /// What its tools are, each for one very definition.
    #[serde(default)]
    pub tools: Vec<ToolLine>,
}

/// `[[mcp.servers.NAME.tools]]`: the class of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLine {
    /// The server's name for it.
    pub tool: String,
    /// The digest of the definition that was looked at, as `capability providers tools` shows it.
    pub definition: String,
    /// `read_only` or `mutating`.
    pub side_effect: SideEffectWord,
    /// `local` or `external`.
    pub network: NetworkWord,
}

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideEffectWord {
    /// It changes nothing.
    ReadOnly,
    /// It changes something.
    Mutating,
}

/// Where a tool's data can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkWord {
    /// Nowhere else.
    Local,
    /// Anywhere.
    External,
}

/// The most servers, and the most lines about one's tools.
const MAX_SERVERS: usize = 32;
const MAX_LINES: usize = 1000;
const DISCOVERY_S: u32 = 10;
const CHECK_S: u32 = 60;

/// What a header of ours may not be replaced by.
const OWN_HEADERS: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "content-type",
    "transfer-encoding",
    "accept",
    "accept-encoding",
    "authorization",
    "user-agent",
];

/// The servers, checked.
pub(super) fn checked(servers: &BTreeMap<String, McpServerTable>) -> Result<BTreeMap<String, ServerSettings>, Mistake> {
    if servers.len() > MAX_SERVERS {
        let what = format!("{} servers are configured: at most {MAX_SERVERS} are", servers.len());
        return Err(Mistake { table: "mcp".into(), key: "", what, help: "keep those that are needed" });
    }
    let one = |(name, table): (&String, &McpServerTable)| {
        let at = format!("mcp.servers.{name}");
        let checked = table.checked(name).map_err(|(key, what, help)| Mistake { table: at, key, what, help })?;
        Ok((name.clone(), checked))
    };
    servers.iter().map(one).collect()
}

impl McpServerTable {
    fn checked(&self, name: &str) -> Result<ServerSettings, Wrong> {
        if !is_configured_name(name) {
            let what = format!("`{}` is no server's name", name.escape_default());
            return Err(("[", what, "write at most 32 lower-case letters, digits, `-` and `_`, a letter first"));
        }
        let discovery = self.discovery_s.unwrap_or(DISCOVERY_S);
        if !(1..=60).contains(&discovery) {
            let what = format!("`discovery_s` is {discovery}: it is 1 to 60");
            return Err(("discovery_s", what, "write a number in that range, or leave the key out"));
        }
        let check = self.check_s.unwrap_or(CHECK_S);
        if !(1..=3600).contains(&check) {
            let what = format!("`check_s` is {check}: it is 1 to 3600");
            return Err(("check_s", what, "write a number in that range, or leave the key out"));
        }
        if (self.scope, self.start) == (Scope::Request, Start::WithHost) {
            let what = "it is nobody's until a session names it, and is started with the host".to_owned();
            return Err(("start", what, "leave `start` out, or write `scope = \"host\"`"));
        }
        if self.scope == Scope::Host && !self.carries_out.is_empty() {
            let what = "it is everybody's, and is to carry out capabilities of this build".to_owned();
            return Err(("carries_out", what, "leave the key out, or write `scope = \"request\"`"));
        }
        let way = match (self.command.split_first(), &self.url) {
            (Some(_), None) => Way::Program(self.program()?),
            (None, Some(url)) => Way::Http(self.http(name, url)?),
            (Some(_), Some(_)) => {
                let what = "both `command` and `url` are written: a server is a program or an address".to_owned();
                return Err(("url", what, "keep one of the two"));
            }
            (None, None) => {
                let what = "neither `command` nor `url` is written".to_owned();
                return Err(("[", what, "write `command = [\"program\", \"argument\"]` or `url = \"https://..\"`"));
            }
        };
        if self.tools.len() > MAX_LINES {
            let what = format!("{} lines are about its tools: at most {MAX_LINES} are", self.tools.len());
            return Err(("[", what, "keep those that are needed"));
        }
        let classes = self.tools.iter().map(ToolLine::checked).collect::<Result<Vec<_>, _>>()?;
        let (discovery, check) = (Duration::from_secs(discovery.into()), Duration::from_secs(check.into()));
        let carries_out = self.carries_out.clone();
        Ok(ServerSettings { way, scope: self.scope, carries_out, start: self.start, discovery, check, classes })
    }

    fn program(&self) -> Result<ProgramSettings, Wrong> {
        let about_http: [(&str, bool); 5] = [
            ("check_s", self.check_s.is_some()),
            ("headers", !self.headers.is_empty()),
            ("token_file", self.token_file.is_some()),
            ("ca_file", self.ca_file.is_some()),
            ("server_name", self.server_name.is_some()),
        ];
        foreign(&about_http, "is about an address, and a program has none")?;
        program_settings(&self.command, (&self.env, &self.set, &self.secrets), self.cwd.as_ref())
    }

    /// The files that hold what the server is given, each with its key.
    pub(super) fn credential_files(&self) -> impl Iterator<Item = (&str, &PathBuf)> {
        let token = self.token_file.iter().map(|file| ("token_file", file));
        self.secrets.iter().map(|(name, file)| (name.as_str(), file)).chain(token)
    }

    fn http(&self, name: &str, url: &str) -> Result<HttpSettings, Wrong> {
        let about_programs: [(&str, bool); 4] = [
            ("env", !self.env.is_empty()),
            ("set", !self.set.is_empty()),
            ("secrets", !self.secrets.is_empty()),
            ("cwd", self.cwd.is_some()),
        ];
        foreign(&about_programs, "is about a program, and an address is none")?;
        if let Some(file) = &self.token_file {
            is_absolute("token_file", file)?;
        }
        // An address and its certificate are read as every service's are. Its token goes with calls, and is not the place's.
        let service = EndpointTable {
            url: url.to_owned(),
            reach: Reach::External,
            ca_file: self.ca_file.clone(),
            server_name: self.server_name.clone(),
            auth: None,
            token_file: None,
            password_file: None,
        };
        let place = service.checked(name)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let wrong = |what: &str| {
                let what = format!("`{}` {what}", name.escape_default());
                ("headers", what, "write other names, and values of plain text; a token goes into `token_file`")
            };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("is no header's name"))?;
            if OWN_HEADERS.contains(&header.as_str()) || header.as_str().starts_with("mcp-") {
                return Err(wrong("is a header that the host writes"));
            }
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong("has a value that no header takes"))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(HttpSettings { place, headers, token_file: self.token_file.clone() })
    }
}

/// The program that a table tells of, its variables checked.
pub(super) fn program_settings(
    command: &[String],
    (env, set, secrets): (&[String], &BTreeMap<String, String>, &BTreeMap<String, PathBuf>),
    cwd: Option<&PathBuf>,
) -> Result<ProgramSettings, Wrong> {
    let plain = |word: &String| !word.contains('\0');
    if command.first().is_none_or(String::is_empty) || !command.iter().all(plain) {
        let what = "`command` names no program".to_owned();
        return Err(("command", what, "write it as in `command = [\"/usr/bin/program\", \"argument\"]`"));
    }
    let variable = |name: &str| {
        let rest = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.bytes().all(rest)
    };
    let given = set.keys().map(|name| ("set", name)).chain(secrets.keys().map(|name| ("secrets", name)));
    for (key, name) in env.iter().map(|name| ("env", name)).chain(given) {
        if !variable(name) {
            let what = format!("`{}` is no variable's name", name.escape_default());
            return Err((key, what, "write names of letters, digits and `_`"));
        }
    }
    if let Some((name, _)) = set.iter().find(|(_, value)| value.contains('\0')) {
        return Err(("set", format!("the value of `{name}` cannot be given to a program"), "write plain text"));
    }
    for (key, path) in secrets.values().map(|path| ("secrets", path)).chain(cwd.into_iter().map(|cwd| ("cwd", cwd))) {
        is_absolute(key, path)?;
    }
    Ok(ProgramSettings {
        command: command.to_vec(),
        pass: env.to_vec(),
        set: set.clone().into_iter().collect(),
        secrets: secrets.clone().into_iter().collect(),
        directory: cwd.cloned(),
    })
}

impl ToolLine {
    fn checked(&self) -> Result<ClassLine, Wrong> {
        let digest = self.definition.strip_prefix("sha256:").and_then(hex::decode::<32>);
        let definition = digest.ok_or((
            "[",
            format!("the line about `{}` names no definition", self.tool.escape_default()),
            "write `definition = \"sha256:..\"` as `capability providers tools SERVER` shows it",
        ))?;
        let side_effect = match self.side_effect {
            SideEffectWord::ReadOnly => SideEffect::ReadOnly,
            SideEffectWord::Mutating => SideEffect::Mutating,
        };
        let network = match self.network {
            NetworkWord::Local => Network::Local,
            NetworkWord::External => Network::External,
        };
        Ok(ClassLine { tool: self.tool.clone(), definition, class: Class::new(side_effect, network) })
    }
}

/// What is written and belongs to the other kind of server.
fn foreign(keys: &[(&'static str, bool)], why: &str) -> Result<(), Wrong> {
    match keys.iter().find(|(_, is_written)| *is_written) {
        None => Ok(()),
        Some((key, _)) => Err((key, format!("`{key}` {why}"), "leave the key out")),
    }
}

fn is_absolute(key: &'static str, path: &Path) -> Result<(), Wrong> {
    if path.is_absolute() && !path.components().any(|part| part == Component::ParentDir) {
        return Ok(());
    }
    let what = format!("`{key}` does not begin at the root of the file system");
    Err((key, what, "write the whole path, as in `/etc/capability/docs-token`"))
}
