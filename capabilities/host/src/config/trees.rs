//! `[trees.NAME]`: what `Trees` handles move.

use std::collections::BTreeMap;
use std::path::PathBuf;

use capability_core::handle::is_configured_name;
use serde::Deserialize;

use super::bindings::{Mistake, Wrong, is_absolute};
use crate::broker::TreeSettings;

/// One tree: a repository on this machine, and the reference in it that is live.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeTable {
    /// The repository's folder, from the root of the file system.
    pub path: PathBuf,
    /// The reference that is moved, in full, as in `refs/heads/live`.
    pub live: String,
    /// References, in full, that lead to whatever may be promoted.
    pub from: Vec<String>,
    /// Whether a promotion may leave out commits that are live: without it, the live revision is among those that the new one came from.
    #[serde(default)]
    pub any_direction: bool,
}

/// The most trees, and the most references that lead to candidates.
const MAX_TREES: usize = 32;
const MAX_FROM: usize = 16;

pub(super) fn checked(tables: &BTreeMap<String, TreeTable>) -> Result<BTreeMap<String, TreeSettings>, Mistake> {
    if tables.len() > MAX_TREES {
        return Err(Mistake {
            table: "trees".to_owned(),
            key: "[",
            what: format!("more than {MAX_TREES} trees are configured"),
            help: "keep those that are needed",
        });
    }
    let settings = |(name, table): (&String, &TreeTable)| {
        let at = format!("trees.{name}");
        let settings = table.settings(name).map_err(|(key, what, help)| Mistake { table: at, key, what, help })?;
        Ok((name.clone(), settings))
    };
    tables.iter().map(settings).collect()
}

impl TreeTable {
    fn settings(&self, name: &str) -> Result<TreeSettings, Wrong> {
        if !is_configured_name(name) {
            return Err((
                "[",
                format!("`{}` is no tree's name", name.escape_default()),
                "name it with lower-case letters, digits, `-` and `_`",
            ));
        }
        if !is_absolute(&self.path) {
            let what = "`path` does not begin at the root of the file system".to_owned();
            return Err(("path", what, "write the whole path, as in `/srv/git/site.git`"));
        }
        if !is_branch(&self.live) {
            let what = format!("`{}` is no branch, in full", self.live.escape_default());
            return Err(("live", what, "write it as in `refs/heads/live`"));
        }
        if self.from.is_empty() || self.from.len() > MAX_FROM {
            let what = format!("`from` lists {} references", self.from.len());
            return Err(("from", what, "list 1 to 16, as in `from = [\"refs/heads/main\"]`"));
        }
        if let Some(wrong) = self.from.iter().find(|from| !is_reference(from) || **from == self.live) {
            let what = format!("`{}` is no reference that leads to candidates", wrong.escape_default());
            return Err(("from", what, "write other branches or tags in full, as in `refs/heads/main`"));
        }
        Ok(TreeSettings {
            path: self.path.clone(),
            live: self.live.clone(),
            from: self.from.clone(),
            any_direction: self.any_direction,
        })
    }
}

fn is_branch(name: &str) -> bool {
    name.starts_with("refs/heads/") && is_reference(name)
}

/// Whether it is the name of one branch or tag, in full.
fn is_reference(name: &str) -> bool {
    let known = ["refs/heads/", "refs/tags/"].iter().any(|under| name.len() > under.len() && name.starts_with(under));
    known && !name.contains(['~', '^']) && capability_core::handle::is_revision(name)
}

#[cfg(test)]
mod tests {
    use super::{TreeTable, checked};

    #[test]
    fn a_tree_names_its_live_branch_and_where_candidates_come_from() {
        let of = |text: &str| {
            let table: TreeTable = toml::from_str(text).unwrap();
            let tables = [("site".to_owned(), table)].into();
            checked(&tables).map(|trees| trees.len()).map_err(|mistake| mistake.key)
        };
        let tree =
            |path: &str, live: &str, from: &str| format!("path = \"{path}\"\nlive = \"{live}\"\nfrom = {from}\n");
        let main = "[\"refs/heads/main\"]";
        assert_eq!(of(&tree("/srv/site.git", "refs/heads/live", main)), Ok(1));
        for (path, live, from, key) in [
            ("site.git", "refs/heads/live", main, "path"),
            ("/srv/../site.git", "refs/heads/live", main, "path"),
            ("/srv/site.git", "live", main, "live"),
            ("/srv/site.git", "HEAD", main, "live"),
            ("/srv/site.git", "refs/tags/live", main, "live"),
            ("/srv/site.git", "refs/heads/../live", main, "live"),
            ("/srv/site.git", "refs/heads/live~1", main, "live"),
            ("/srv/site.git", "refs/heads/live", "[]", "from"),
            ("/srv/site.git", "refs/heads/live", "[\"main\"]", "from"),
            ("/srv/site.git", "refs/heads/live", "[\"refs/heads/live\"]", "from"),
            ("/srv/site.git", "refs/heads/live", "[\"refs/heads/*\"]", "from"),
        ] {
            assert_eq!(of(&tree(path, live, from)), Err(key), "{path} {live} {from}");
        }
    }
}
