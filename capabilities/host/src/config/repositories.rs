//! `[repositories.NAME]`: what `Repository` handles read.

use core::num::NonZeroU32;
use std::collections::BTreeMap;
use std::path::PathBuf;

use capability_core::handle::is_configured_name;
use serde::Deserialize;

use super::bindings::{EndpointTable, Mistake, Wrong, is_absolute, login};
use crate::broker::{Elsewhere, Reach, RepositorySource};

/// One repository: `path` for one on this machine, `url` for one elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepositoryTable {
    /// Its folder, from the root of the file system.
    pub path: Option<PathBuf>,
    /// `http` or `https`, host, port and path of one that is fetched.
    pub url: Option<String>,
    /// A PEM file of the authorities that its server's certificate may come from, instead of the public ones.
    pub ca_file: Option<PathBuf>,
    /// The name its server's certificate is for, when that is not the host's.
    pub server_name: Option<String>,
    /// The name to sign in with.
    pub user: Option<String>,
    /// The file that holds the password.
    pub password_file: Option<PathBuf>,
    /// How many commits of each branch are fetched; 1, unless it is said.
    pub depth: Option<NonZeroU32>,
}

/// The most repositories.
const MAX_REPOSITORIES: usize = 64;

pub(super) fn checked(
    tables: &BTreeMap<String, RepositoryTable>,
) -> Result<BTreeMap<String, RepositorySource>, Mistake> {
    if tables.len() > MAX_REPOSITORIES {
        return Err(Mistake {
            table: "repositories".to_owned(),
            key: "[",
            what: format!("more than {MAX_REPOSITORIES} repositories are configured"),
            help: "keep those that are needed",
        });
    }
    let source = |(name, table): (&String, &RepositoryTable)| {
        let table_name = format!("repositories.{name}");
        let source = table.source(name).map_err(|(key, what, help)| Mistake { table: table_name, key, what, help })?;
        Ok((name.clone(), source))
    };
    tables.iter().map(source).collect()
}

impl RepositoryTable {
    fn source(&self, name: &str) -> Result<RepositorySource, Wrong> {
        if !is_configured_name(name) {
            return Err((
                "[",
                format!("`{}` is no repository's name", name.escape_default()),
                "name it with lower-case letters, digits, `-` and `_`",
            ));
        }
        let of_elsewhere = self.ca_file.is_some()
            || self.server_name.is_some()
            || self.user.is_some()
            || self.password_file.is_some()
            || self.depth.is_some();
        match (&self.path, &self.url) {
            (Some(path), None) if of_elsewhere => Err((
                "path",
                format!("`{}` is on this machine: it is not signed in to, and not fetched", path.display()),
                "write `path` alone, or `url` for a repository elsewhere",
            )),
            (Some(path), None) if !is_absolute(path) => Err((
                "path",
                "`path` does not begin at the root of the file system".to_owned(),
                "write the whole path, as in `/srv/git/notes.git`",
            )),
            (Some(path), None) => Ok(RepositorySource::Here(path.clone())),
            (None, Some(url)) => self.elsewhere(name, url).map(|found| RepositorySource::Elsewhere(Box::new(found))),
            (Some(_), Some(_)) | (None, None) => Err((
                "[",
                "a repository has either `path` or `url`".to_owned(),
                "write `path` for one on this machine, `url` for one elsewhere",
            )),
        }
    }

    fn elsewhere(&self, name: &str, url: &str) -> Result<Elsewhere, Wrong> {
        let server = EndpointTable {
            url: url.to_owned(),
            reach: Reach::External,
            ca_file: self.ca_file.clone(),
            server_name: self.server_name.clone(),
            auth: None,
            token_file: None,
            password_file: None,
        };
        let server = server.checked(name)?;
        let is_name = |user: &str| !user.is_empty() && user.bytes().all(|b| b.is_ascii_graphic() && b != b':');
        let help = "write both: a name without `:`, and the whole path of a file that holds the password";
        let login = login(self.user.as_ref(), self.password_file.as_ref(), is_name, help)?;
        Ok(Elsewhere { server, login, depth: self.depth.unwrap_or(NonZeroU32::MIN) })
    }
}
