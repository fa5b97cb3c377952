//! `[edges]`, `[fallback]`, `[bind]`: who carries out capabilities of this build beside this host, and in whose place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use capability_core::handle::is_configured_name;
use capability_core::nearest;
use capability_core::provider::{ExplicitBinding, FallbackPolicy, FallbackRules, ProviderType};
use capability_core::registry::Registry;
use serde::Deserialize;

use super::bindings::Mistake;
use super::{Config, ConfigError};

/// `[edges.NAME]`: a person's own machine, or a workspace or agent elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeTable {
    /// What it is; a person's own machine unless it is said.
    #[serde(default)]
    pub kind: EdgeKind,
    /// The capabilities of this build that it may carry out, by name: the most that it is ever sent, whatever it says of itself.
    #[serde(default)]
    pub carries_out: BTreeSet<String>,
}

/// What stands under `[edges]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// A person's own machine: it goes before this host.
    #[default]
    Edge,
    /// A workspace or agent elsewhere: it only ever stands in.
    Relay,
}

impl From<EdgeKind> for ProviderType {
    fn from(kind: EdgeKind) -> Self {
        match kind {
            EdgeKind::Edge => Self::Edge,
            EdgeKind::Relay => Self::Relay,
        }
    }
}

/// What an operator says of one capability under `[fallback]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackWord {
    /// The next one stands in for a first choice that cannot be reached.
    Approved,
    /// Nobody does, and the refusal says that it was switched off.
    Disabled,
}

/// The most edges.
const MAX_EDGES: usize = 32;

/// Names are names, and what is bound names somebody who is configured.
pub(super) fn checked(config: &Config) -> Result<(), Mistake> {
    if config.edges.len() > MAX_EDGES {
        let what = format!("{} edges are configured: at most {MAX_EDGES} are", config.edges.len());
        return Err(Mistake { table: "edges".into(), key: "", what, help: "keep those that are needed" });
    }
    if let Some(name) = config.edges.keys().find(|name| !is_configured_name(name) || *name == "compiled") {
        return Err(Mistake {
            table: format!("edges.{name}"),
            key: "[",
            what: format!("`{}` is no edge's name", name.escape_default()),
            help: "write at most 32 lower-case letters, digits, `-` and `_`, a letter first",
        });
    }
    for (capability, to) in &config.bind {
        bound(config, to).ok_or_else(|| Mistake {
            table: "bind".into(),
            key: "",
            what: format!("`{capability}` is bound to `{}`, which is nobody here", to.escape_default()),
            help: "write `compiled` for this host, or `edge:NAME` or `relay:NAME` for one of `[edges.NAME]`",
        })?;
    }
    Ok(())
}

/// Whom a word under `[bind]` names.
fn bound<'w>(config: &Config, word: &'w str) -> Option<(ProviderType, &'w str)> {
    if word == "compiled" {
        return Some((ProviderType::Compiled, word));
    }
    let (kind, name) = word.split_once(':')?;
    let kind = ProviderType::named(kind)?;
    let table = config.edges.get(name)?;
    (ProviderType::from(table.kind) == kind).then_some((kind, name))
}

/// Whether every capability that is named exists, and can be carried out elsewhere: a line that can never count is a mistake.
pub(super) fn named(config: &Config, registry: &Registry) -> Result<(), (Mistake, String)> {
    for (edge, table) in &config.edges {
        for name in &table.carries_out {
            let at = format!("edges.{edge}");
            exists(&at, "carries_out", name, registry).map_err(|mistake| (mistake, name.clone()))?;
        }
    }
    for (server, table) in &config.mcp.servers {
        for name in table.carries_out.keys() {
            let at = format!("mcp.servers.{server}");
            exists(&at, "carries_out", name, registry).map_err(|mistake| (mistake, name.clone()))?;
        }
    }
    let carried = |name: &String| {
        config.edges.values().any(|table| table.carries_out.contains(name))
            || config.mcp.servers.values().any(|table| table.carries_out.contains_key(name))
    };
    for (table, name) in
        config.fallback.keys().map(|name| ("fallback", name)).chain(config.bind.keys().map(|name| ("bind", name)))
    {
        exists(table, "", name, registry).map_err(|mistake| (mistake, name.clone()))?;
        if !carried(name) {
            let mistake = Mistake {
                table: table.into(),
                key: "",
                what: format!("nobody but this host carries out `{name}`, so nothing can come of this line"),
                help: "name it under `carries_out` of an edge too, or remove the line",
            };
            return Err((mistake, name.clone()));
        }
        if let Some(to) = config.bind.get(name).filter(|_| table == "bind")
            && let Some((kind, edge)) = bound(config, to)
            && kind != ProviderType::Compiled
            && !config.edges.get(edge).is_some_and(|table| table.carries_out.contains(name))
        {
            let mistake = Mistake {
                table: table.into(),
                key: "",
                what: format!("`{name}` is bound to `{to}`, which does not carry it out"),
                help: "name it under `carries_out` of that edge, or bind it to another one",
            };
            return Err((mistake, name.clone()));
        }
    }
    Ok(())
}

fn exists(table: &str, key: &'static str, name: &str, registry: &Registry) -> Result<(), Mistake> {
    let wrong = |what, help| Err(Mistake { table: table.to_owned(), key, what, help });
    let mut entries = registry.iter().map(|held| held.entry()).filter(|entry| entry.name().as_str() == name).peekable();
    if entries.peek().is_none() {
        let near = nearest(name, registry.iter().map(|held| held.entry().name().as_str()));
        let near = near.map_or_else(String::new, |near| format!("; `{near}` is one that it has"));
        return wrong(
            format!("`{}` is named, and this build has no such capability{near}", name.escape_default()),
            "write names as `capability list` shows them, without a version",
        );
    }
    if entries.all(|entry| {
        entry.previews() || entry.is_locked() || entry.scope().is_some() && entry.handles().iter().any(through)
    }) {
        return wrong(
            format!("`{name}` is never carried out elsewhere"),
            "remove it: what looks at a call before anybody is asked, and what leads to another's tool, stays with this host",
        );
    }
    Ok(())
}

/// Whether a capability leads to somebody else's tools.
fn through(kind: &capability_core::handle::HandleKind) -> bool {
    use capability_core::handle::HandleFamily::{ProviderLink, ProviderTool};
    matches!(kind.family(), ProviderTool | ProviderLink)
}

impl Config {
    /// Whether everything that is carried out elsewhere exists, and can be.
    ///
    /// # Errors
    /// [`ConfigError`] names what is written and what would be right.
    pub(crate) fn check_edges(&self, path: &Path, registry: &Registry) -> Result<(), ConfigError> {
        named(self, registry).map_err(|(mistake, name)| {
            // The line of the table that names it; the table's own where none does.
            let line = super::line_in(&self.text, &mistake.table, mistake.key);
            let inside = self.text.lines().enumerate().skip(line.map_or(0, |line| line.saturating_sub(1)));
            let names = inside.into_iter().find(|(_, own)| own.contains(&format!("\"{name}\"")));
            ConfigError::Wrong {
                path: path.to_owned(),
                line: line.map(|line| names.map_or(line, |(at, _)| at + 1)),
                what: mistake.what,
                help: mistake.help,
            }
        })
    }

    /// What stands in for whom, as decisions take it.
    #[must_use]
    pub fn fallback_rules(&self) -> FallbackRules {
        self.fallback.iter().fold(FallbackRules::default(), |rules, (name, word)| {
            let policy = match word {
                FallbackWord::Approved => FallbackPolicy::Approved,
                FallbackWord::Disabled => FallbackPolicy::Disabled,
            };
            rules.with(name, policy)
        })
    }

    /// Who carries out what before everybody else, in every session.
    #[must_use]
    pub fn explicit_bindings(&self) -> Vec<ExplicitBinding> {
        let one = |(capability, to): (&String, &String)| {
            let (kind, provider) = bound(self, to)?;
            let (capability, provider) = (capability.as_str().into(), provider.into());
            Some(ExplicitBinding { session: None, capability, kind, provider })
        };
        self.bind.iter().filter_map(one).collect()
    }

    /// The configured edges with what each may carry out.
    pub(crate) fn edge_tables(&self) -> &BTreeMap<String, EdgeTable> {
        &self.edges
    }
}
