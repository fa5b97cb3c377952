//! `[skills]`: where packages of instructions lie.

use std::path::PathBuf;

use serde::Deserialize;

use super::bindings::{Mistake, is_absolute};

/// `[skills]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillsTable {
    /// The folder with one folder for each skill; there are none, unless it is said.
    pub folder: Option<PathBuf>,
}

impl SkillsTable {
    pub(super) fn check(&self) -> Result<(), Mistake> {
        match &self.folder {
            Some(folder) if !is_absolute(folder) => Err(Mistake {
                table: "skills".into(),
                key: "folder",
                what: "`folder` does not begin at the root of the file system".to_owned(),
                help: "write the whole path, as in `/etc/capability/skills`",
            }),
            _ => Ok(()),
        }
    }
}
