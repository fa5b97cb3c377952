//! What stands behind the handles, by the operator's word.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use capability_core::handle::is_configured_name;
use rustix::fs::OFlags;
use serde::Deserialize;

use super::ConfigError;
use crate::agents::AgentSettings;
use crate::broker::{Auth, EndpointSettings, MailSettings, Place, Reach, RepositorySource, Scheme, TreeSettings};

/// `[http]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpTable {
    /// Places that `Http` may connect to though their address is not public or their port is no standard one, each as
    /// `host:port`.
    pub allow: Vec<String>,
    /// A PEM file of authorities that `Http` trusts beside the public ones.
    pub ca_file: Option<PathBuf>,
}

/// `[workspace]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceTable {
    /// The directory that `Workspace` handles are about, from the root of the file system.
    pub root: PathBuf,
}

/// `[endpoints.NAME]`: one service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointTable {
    /// `http` or `https`, host, port, and what every path is appended to.
    pub url: String,
    /// Whether it is on this device.
    #[serde(default)]
    pub reach: Reach,
    /// A PEM file of the authorities that its certificate may come from, instead of the public ones.
    pub ca_file: Option<PathBuf>,
    /// The name its certificate is for, when that is not the host's.
    pub server_name: Option<String>,
    /// How it is told who asks; by `token_file` when only that is given.
    pub auth: Option<AuthScheme>,
    /// The file that holds the bearer token.
    pub token_file: Option<PathBuf>,
    /// The file that holds the password.
    pub password_file: Option<PathBuf>,
}

/// How a service is told who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthScheme {
    /// A bearer token.
    Bearer,
    /// A session of a Pi-hole.
    Pihole,
}

/// All of it, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bindings {
    /// The services, by name.
    pub endpoints: BTreeMap<String, EndpointSettings>,
    /// Where `Http` may connect to beyond public hosts at standard ports.
    pub allowed: Vec<Place>,
    /// The file of authorities that `Http` trusts beside the public ones.
    pub authorities: Option<PathBuf>,
    /// The workspace's root.
    pub workspace: Option<PathBuf>,
    /// The mail server.
    pub mail: Option<MailSettings>,
    /// The repositories, by name.
    pub repositories: BTreeMap<String, RepositorySource>,
    /// The trees, by name.
    pub trees: BTreeMap<String, TreeSettings>,
    /// The agents, by name.
    pub agents: BTreeMap<String, AgentSettings>,
}

/// The most services and the most allowed places.
const MAX_ENDPOINTS: usize = 64;
const MAX_ALLOWED: usize = 64;

/// What is wrong: table, key, what, and what would be right.
pub(super) struct Mistake {
    pub table: String,
    pub key: &'static str,
    pub what: String,
    pub help: &'static str,
}

impl Bindings {
    pub(super) fn of(
        http: &HttpTable,
        endpoints: &BTreeMap<String, EndpointTable>,
        workspace: Option<&WorkspaceTable>,
    ) -> Result<Self, Mistake> {
        let mistake = |table: &str, key, what, help| Mistake { table: table.to_owned(), key, what, help };
        let mut bindings = Self::default();
        for text in &http.allow {
            // Without a standard port: one that is left out is none of the two.
            let place = Place::of_authority(text, 0).filter(|place| place.port != 0).ok_or_else(|| {
                mistake(
                    "http",
                    "allow",
                    format!("`{}` is no place", text.escape_default()),
                    "write host and port, as in `127.0.0.1:8080` or `nas.lan:443`",
                )
            })?;
            bindings.allowed.push(place);
        }
        if let Some(file) = &http.ca_file {
            if !is_absolute(file) {
                let what = "`ca_file` does not begin at the root of the file system".to_owned();
                return Err(mistake(
                    "http",
                    "ca_file",
                    what,
                    "write the whole path, as in `/etc/capability/home-ca.pem`",
                ));
            }
            bindings.authorities = Some(file.clone());
        }
        if bindings.allowed.len() > MAX_ALLOWED || endpoints.len() > MAX_ENDPOINTS {
            let what = format!("more than {MAX_ALLOWED} places or {MAX_ENDPOINTS} endpoints are configured");
            return Err(mistake("http", "allow", what, "keep those that are needed"));
        }
        for (name, table) in endpoints {
            let at = format!("endpoints.{name}");
            let checked = table.checked(name).map_err(|(key, what, help)| mistake(&at, key, what, help))?;
            bindings.endpoints.insert(name.clone(), checked);
        }
        if let Some(WorkspaceTable { root }) = workspace {
            if !is_absolute(root) {
                return Err(mistake(
                    "workspace",
                    "root",
                    format!("`{}` does not begin at the root of the file system", root.display()),
                    "write it as in `root = \"/home/me/notes\"`",
                ));
            }
            bindings.workspace = Some(root.clone());
        }
        Ok(bindings)
    }
}

impl Bindings {
    /// The files that hold the host's credentials for services, each with what it is for.
    pub(crate) fn credentials(&self) -> impl Iterator<Item = (String, PathBuf)> {
        let of_endpoints = self.endpoints.iter().filter_map(|(name, endpoint)| match &endpoint.auth {
            Auth::None => None,
            Auth::Bearer { token_file: file } | Auth::Pihole { password_file: file } => {
                Some((format!("endpoints.{name}"), file.clone()))
            }
        });
        let of_repositories = self.repositories.iter().filter_map(|(name, source)| match source {
            RepositorySource::Elsewhere(elsewhere) => {
                elsewhere.login.as_ref().map(|(_, file)| (format!("repositories.{name}"), file.clone()))
            }
            RepositorySource::Here(_) => None,
        });
        let of_mail = self.mail.iter().filter_map(|mail| mail.login.as_ref());
        let of_mail = of_mail.map(|(_, file)| ("mail".to_owned(), file.clone()));
        of_endpoints.chain(of_repositories).chain(of_mail)
    }
}

pub(super) type Wrong = (&'static str, String, &'static str);

impl EndpointTable {
    pub(super) fn checked(&self, name: &str) -> Result<EndpointSettings, Wrong> {
        if !is_configured_name(name) {
            return Err((
                "url",
                format!("`{}` is no endpoint's name", name.escape_default()),
                "name it as its capabilities do: lower-case letters, digits, `-` and `_`",
            ));
        }
        let (scheme, place, base) = address(&self.url).ok_or((
            "url",
            "`url` is no plain address of a service".to_owned(),
            "write it as in `https://search.example.com` or `http://127.0.0.1:8080/base`: no user, password, query or fragment",
        ))?;
        for (key, file) in
            [("ca_file", &self.ca_file), ("token_file", &self.token_file), ("password_file", &self.password_file)]
        {
            if file.as_deref().is_some_and(|file| !is_absolute(file)) {
                return Err((
                    key,
                    format!("`{key}` does not begin at the root of the file system"),
                    "write the whole path, as in `/etc/capability/searxng`",
                ));
            }
        }
        if scheme == Scheme::Http && (self.ca_file.is_some() || self.server_name.is_some()) {
            let key = if self.ca_file.is_some() { "ca_file" } else { "server_name" };
            let what = format!("`{key}` is about a certificate, and an `http` address has none");
            return Err((key, what, "write `https`, or leave the key out"));
        }
        let server_name = match &self.server_name {
            None => None,
            Some(text) => match Place::of_authority(text, 443) {
                Some(place) if !text.contains(':') => Some(place.host.to_string()),
                _ => {
                    let what = format!("`{}` is no host name", text.escape_default());
                    return Err(("server_name", what, "write it as in `pi.hole`"));
                }
            },
        };
        let auth = match (self.auth, &self.token_file, &self.password_file) {
            (None, None, None) => Auth::None,
            (None | Some(AuthScheme::Bearer), Some(token_file), None) => {
                Auth::Bearer { token_file: token_file.clone() }
            }
            (Some(AuthScheme::Pihole), None, Some(password_file)) => {
                Auth::Pihole { password_file: password_file.clone() }
            }
            _ => {
                return Err((
                    "auth",
                    "`auth` and its file do not go together".to_owned(),
                    "write `token_file` for a bearer token, or `auth = \"pihole\"` and `password_file`",
                ));
            }
        };
        let ca_file = self.ca_file.clone();
        Ok(EndpointSettings { scheme, place, base, reach: self.reach, ca_file, server_name, auth })
    }
}

/// Scheme, place and path of a plain address; the path without a final slash.
fn address(url: &str) -> Option<(Scheme, Place, String)> {
    let (scheme, place, rest) = Place::of_url(url)?;
    let base = rest.strip_suffix('/').unwrap_or(rest);
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    let segment =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(|b| plain(b) || b == b'.');
    let is_plain = base.is_empty() || base.strip_prefix('/').is_some_and(|base| base.split('/').all(segment));
    is_plain.then(|| (scheme, place, base.to_owned()))
}

/// Who logs in, and with the password in which file: both are written, or neither.
pub(super) fn login(
    user: Option<&String>,
    file: Option<&PathBuf>,
    is_name: impl Fn(&str) -> bool,
    help: &'static str,
) -> Result<Option<(String, PathBuf)>, Wrong> {
    match (user, file) {
        (None, None) => Ok(None),
        (Some(user), Some(file)) if is_name(user) && is_absolute(file) => Ok(Some((user.clone(), file.clone()))),
        _ => Err(("user", "`user` and `password_file` do not go together".to_owned(), help)),
    }
}

pub(super) fn is_absolute(path: &Path) -> bool {
    path.is_absolute() && !path.components().any(|part| part == std::path::Component::ParentDir)
}

/// Opens the workspace's root, once: what its path leads to later changes nothing. The host's own directory and its credentials, each
/// with the setting that names its file, are outside every workspace: a command has all of it.
///
/// # Errors
/// [`ConfigError::Wrong`] when there is none, when it and the host's directory are one in the other, or when a credential lies in it.
pub(crate) fn open_workspace(
    config: &Path,
    root: &Path,
    data_dir: &Path,
    credentials: &[(String, PathBuf)],
) -> Result<OwnedFd, ConfigError> {
    let wrong = |what, help| ConfigError::Wrong { path: config.to_owned(), line: None, what, help };
    let no_directory = |error: std::io::Error| {
        let what = format!("the workspace `{}` cannot be opened: {error}", root.display());
        wrong(what, "make the directory, or name another one as `root` under `[workspace]`")
    };
    let (found, own) = (root.canonicalize().map_err(no_directory)?, data_dir.canonicalize().map_err(no_directory)?);
    if found.starts_with(&own) || own.starts_with(&found) {
        let what = format!("the workspace `{}` holds the data directory, or is held by it", root.display());
        return Err(wrong(what, "name a directory beside it as `root` under `[workspace]`"));
    }
    let inside = |file: &PathBuf| file.starts_with(root) || places(file).iter().any(|place| place.starts_with(&found));
    if let Some((setting, _)) = credentials.iter().find(|(_, file)| inside(file)) {
        let what = format!(
            "the file that `{setting}` names lies in the workspace `{}`, where commands read it",
            root.display()
        );
        return Err(wrong(what, "move it out of the workspace, and name its new place"));
    }
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(&found).map_err(no_directory)?;
    Ok(opened.into())
}

/// Where a file is: where its name stands, and where what it is called leads. One that is not there yet is where it would be.
fn places(file: &Path) -> Vec<PathBuf> {
    let named = |above: &Path| Some(above.canonicalize().ok()?.join(file.strip_prefix(above).ok()?));
    let stands = file.ancestors().skip(1).find_map(named);
    stands.into_iter().chain(file.canonicalize().ok()).collect()
}
