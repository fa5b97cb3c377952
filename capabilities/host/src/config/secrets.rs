//! `[secrets.NAME]`: where a secret comes from, and when it ends.

use std::collections::BTreeMap;
use std::path::PathBuf;

use capability_core::Timestamp;
use capability_core::handle::is_configured_name;
use serde::Deserialize;

use super::Config;
use super::bindings::{Mistake, Wrong, is_absolute};
use crate::secrets::{SecretSettings, Whence, is_variable_name};

/// One secret: `file`, or `dotenv` with `key`, or `env`, or `credential`; none of them for the file of its name in `secrets` in
/// the data directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SecretTable {
    /// A file that holds it, mode 0600, from the root of the file system.
    pub file: Option<PathBuf>,
    /// A `.env` file that has it among others, mode 0600, from the root of the file system.
    pub dotenv: Option<PathBuf>,
    /// Its name in that file.
    pub key: Option<String>,
    /// A variable of the host's own environment.
    pub env: Option<String>,
    /// A file in the directory that the service manager names in `CREDENTIALS_DIRECTORY`.
    pub credential: Option<String>,
    /// When it ends, as in `2027-01-31T00:00:00Z`. From then on it is none.
    pub expires: Option<Timestamp>,
}

/// The most secrets that something is said about.
const MAX_SECRETS: usize = 256;

pub(super) fn checked(tables: &BTreeMap<String, SecretTable>) -> Result<BTreeMap<String, SecretSettings>, Mistake> {
    if tables.len() > MAX_SECRETS {
        return Err(Mistake {
            table: "secrets".to_owned(),
            key: "[",
            what: format!("more than {MAX_SECRETS} secrets are configured"),
            help: "keep those that are needed",
        });
    }
    let settings = |(name, table): (&String, &SecretTable)| {
        let at = format!("secrets.{name}");
        let whence = table.whence(name).map_err(|(key, what, help)| Mistake { table: at, key, what, help })?;
        Ok((name.clone(), SecretSettings { whence, expires: table.expires }))
    };
    tables.iter().map(settings).collect()
}

impl SecretTable {
    fn whence(&self, name: &str) -> Result<Whence, Wrong> {
        if !is_configured_name(name) {
            return Err((
                "[",
                format!("`{}` is no secret's name", name.escape_default()),
                "name it with lower-case letters, digits, `-` and `_`",
            ));
        }
        let one_place = || {
            (
                "[",
                "a secret comes from one place".to_owned(),
                "write one of `file`, `dotenv` with `key`, `env` and `credential`, or none for a file in `secrets`",
            )
        };
        if self.key.is_some() && self.dotenv.is_none() {
            return Err(one_place());
        }
        match (&self.file, &self.dotenv, &self.env, &self.credential) {
            (None, None, None, None) => Ok(Whence::Stored),
            (Some(file), None, None, None) => whole("file", file).map(Whence::File),
            (None, Some(file), None, None) => {
                let key = self.key.as_ref().filter(|key| is_variable_name(key)).ok_or_else(|| {
                    (
                        "key",
                        "`key` is no name in a `.env` file".to_owned(),
                        "write the name that stands before `=` there, as in `key = \"DEPLOY_TOKEN\"`",
                    )
                })?;
                Ok(Whence::Dotenv { file: whole("dotenv", file)?, key: key.clone() })
            }
            (None, None, Some(variable), None) if is_variable_name(variable) => {
                Ok(Whence::Environment(variable.clone()))
            }
            (None, None, Some(variable), None) => Err((
                "env",
                format!("`{}` is no variable's name", variable.escape_default()),
                "write it with letters, digits and `_`, as in `env = \"DEPLOY_TOKEN\"`",
            )),
            (None, None, None, Some(credential)) if is_credential_name(credential) => {
                Ok(Whence::Credential(credential.clone()))
            }
            (None, None, None, Some(credential)) => Err((
                "credential",
                format!("`{}` is no credential's name", credential.escape_default()),
                "write the name that the unit gives it, as in `LoadCredential=NAME:PATH`",
            )),
            _ => Err(one_place()),
        }
    }
}

fn whole(key: &'static str, file: &std::path::Path) -> Result<PathBuf, Wrong> {
    if is_absolute(file) {
        return Ok(file.to_owned());
    }
    let what = format!("`{key}` does not begin at the root of the file system");
    Err((key, what, "write the whole path, as in `/etc/capability/deploy-token`"))
}

fn is_credential_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('.')
}

impl Config {
    /// What is said of secrets, by name.
    pub(crate) const fn secret_settings(&self) -> &BTreeMap<String, SecretSettings> {
        &self.secret_settings
    }

    /// Every file that holds a credential or a secret, with the place in the configuration that names it.
    pub(crate) fn credential_files(&self) -> Vec<(String, PathBuf)> {
        let of_servers = self.mcp.servers.iter().flat_map(|(name, server)| {
            server.credential_files().map(move |(key, file)| (format!("mcp.servers.{name}.{key}"), file.clone()))
        });
        let of_secrets = self.secret_settings.iter().filter_map(|(name, settings)| {
            settings.whence.file().map(|file| (format!("secrets.{name}"), file.to_owned()))
        });
        let of_agents = self.agents.iter().flat_map(|(name, agent)| {
            agent.secrets.iter().map(move |(variable, file)| (format!("agents.{name}.{variable}"), file.clone()))
        });
        self.bindings.credentials().chain(of_servers).chain(of_agents).chain(of_secrets).collect()
    }
}
