//! An `agent.yaml`, and the manifest of one of its components.

use core::marker::PhantomData;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component as Part, Path, PathBuf};

use capability_core::session::{Declaration, Declarations, Demand};
use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{DuplicateKeyPolicy, options};

use super::SlotPath;

/// Why a file is no manifest. It names the file, the line where there is one, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestError {
    path: PathBuf,
    line: Option<u64>,
    what: String,
    help: &'static str,
}

impl ManifestError {
    pub(super) fn new(path: &Path, line: Option<u64>, what: String, help: &'static str) -> Self {
        Self { path: path.to_owned(), line, what, help }
    }

    pub(super) fn file(path: &Path, error: &crate::data_dir::DataDirError) -> Self {
        let (what, _) = error
            .to_string()
            .split_once("\nhelp: ")
            .map_or_else(|| (error.to_string(), ()), |(what, _)| (what.to_owned(), ()));
        Self::new(path, None, what, "give the file and its directory to the host's user alone: modes 0600 and 0700")
    }

    /// What stands against it, in one line.
    pub(crate) fn what(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("the manifest `{}`{line}: {}", self.path.display(), self.what)
    }

    /// What would be right.
    pub(crate) const fn help(&self) -> &'static str {
        self.help
    }
}

impl core::fmt::Display for ManifestError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}\nhelp: {}", self.what(), self.help)
    }
}

impl core::error::Error for ManifestError {}

/// An agent's manifest.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Agent {
    /// For whoever runs the agent: nothing of it is looked at here.
    #[serde(rename = "agent")]
    _agent: Option<IgnoredAny>,
    capabilities: Capabilities,
    /// Manifests of the agent's components, each a file below the manifest's own directory.
    #[serde(deserialize_with = "each_once")]
    pub(super) components: BTreeMap<SlotPath, ComponentFile>,
    approval: Approval,
    tools: Tools,
}

/// What an agent declares.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Capabilities {
    /// For every slot.
    defaults: Vec<Declaration>,
    /// For one slot beyond that.
    #[serde(deserialize_with = "each_once")]
    slots: BTreeMap<SlotPath, Vec<Declaration>>,
}

/// A component's manifest.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Component {
    /// For whoever runs the component.
    #[serde(rename = "component")]
    _component: Option<IgnoredAny>,
    capabilities: Vec<Declaration>,
    approval: Approval,
    tools: Tools,
}

/// Which calls the manifest itself has somebody asked about.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Approval {
    /// For every call.
    default: Word,
    /// For these.
    capabilities: BTreeMap<Said, Word>,
}

/// What is known of tools.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tools {
    metadata: BTreeMap<Said, Metadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Metadata {
    approval: Word,
}

/// A declaration, as a key.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
struct Said(String);

/// What is asked for. `auto` asks for nothing, and lowers nothing that anybody else asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    #[default]
    Auto,
    Prompt,
    Deny,
}

impl Word {
    const fn demand(self) -> Option<Demand> {
        match self {
            Self::Auto => None,
            Self::Prompt => Some(Demand::Ask),
            Self::Deny => Some(Demand::Deny),
        }
    }
}

/// A file below the manifest's own directory.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "PathBuf")]
pub(super) struct ComponentFile(PathBuf);

impl ComponentFile {
    pub(super) fn as_path(&self) -> &Path {
        &self.0
    }
}

impl TryFrom<PathBuf> for ComponentFile {
    type Error = &'static str;

    fn try_from(path: PathBuf) -> Result<Self, Self::Error> {
        let plain = path.components().all(|part| matches!(part, Part::Normal(_)));
        if plain && path.components().next().is_some() {
            Ok(Self(path))
        } else {
            Err("a component's manifest is a file below this one's directory, as in `components/planner.yaml`")
        }
    }
}

/// Everything that can be written.
const AGENT_KEYS: &str = "a manifest has `capabilities` (with `defaults` and `slots`), `components`, `approval` (with `default` and `capabilities`), `tools` (with `metadata`), and `agent` for what is not the host's";
const COMPONENT_KEYS: &str = "a component's manifest has a list of `capabilities`, `approval`, `tools`, and `component` for what is not the host's";

impl Agent {
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, ManifestError> {
        let agent: Self = parse(path, text, AGENT_KEYS)?;
        check_keys(path, &agent.approval, &agent.tools)?;
        Ok(agent)
    }

    /// Everything that it names.
    pub(super) fn declared(&self) -> Vec<&Declaration> {
        self.capabilities.defaults.iter().chain(self.capabilities.slots.values().flatten()).collect()
    }

    /// Everything that it has somebody asked about, or denies.
    pub(super) fn demanded(&self) -> Vec<Declaration> {
        said(&self.approval, &self.tools)
    }

    /// Every slot, in order.
    pub(super) fn slots(&self) -> Vec<SlotPath> {
        let slots: BTreeSet<_> = self.capabilities.slots.keys().chain(self.components.keys()).collect();
        slots.into_iter().cloned().collect()
    }

    pub(super) fn has_slot(&self, slot: &SlotPath) -> bool {
        self.capabilities.slots.contains_key(slot) || self.components.contains_key(slot)
    }

    /// What is declared for one slot, or for none: the defaults, what the manifest says for that very slot, and what the
    /// component there says of itself. Not what a slot above it has: each is judged by its own.
    pub(super) fn declarations(&self, slot: Option<&SlotPath>, component: Option<&Component>) -> Declarations {
        let mut listed = self.capabilities.defaults.clone();
        listed.extend(slot.and_then(|slot| self.capabilities.slots.get(slot)).into_iter().flatten().cloned());
        listed.extend(component.into_iter().flat_map(|component| component.capabilities.iter().cloned()));
        let mut demands = demands(&self.approval, &self.tools);
        let mut of_all = self.approval.default.demand();
        if let Some(component) = component {
            demands.extend(self::demands(&component.approval, &component.tools));
            of_all = of_all.max(component.approval.default.demand());
        }
        Declarations::only(listed).demanding(demands, of_all)
    }
}

impl Component {
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, ManifestError> {
        let component: Self = parse(path, text, COMPONENT_KEYS)?;
        check_keys(path, &component.approval, &component.tools)?;
        Ok(component)
    }

    pub(super) fn declared(&self) -> &[Declaration] {
        &self.capabilities
    }

    pub(super) fn demanded(&self) -> Vec<Declaration> {
        said(&self.approval, &self.tools)
    }
}

fn demands(approval: &Approval, tools: &Tools) -> Vec<(Declaration, Demand)> {
    let said = approval.capabilities.iter().map(|(said, word)| (said, *word));
    let known = tools.metadata.iter().map(|(said, metadata)| (said, metadata.approval));
    said.chain(known).filter_map(|(said, word)| Some((said.0.parse().ok()?, word.demand()?))).collect()
}

/// Every key, whatever is said to it: one that means nothing was meant.
fn said(approval: &Approval, tools: &Tools) -> Vec<Declaration> {
    let keys = approval.capabilities.keys().chain(tools.metadata.keys());
    keys.filter_map(|Said(key)| key.parse().ok()).collect()
}

/// A table by slots in which each stands once. Two spellings are one slot: the later one would be taken for both.
fn each_once<'de, T, D>(deserializer: D) -> Result<BTreeMap<SlotPath, T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct EachOnce<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for EachOnce<T> {
        type Value = BTreeMap<SlotPath, T>;

        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            f.write_str("a table by slots")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Self::Value, A::Error> {
            let mut slots = BTreeMap::new();
            while let Some((slot, value)) = table.next_entry::<SlotPath, T>()? {
                if slots.contains_key(&slot) {
                    return Err(A::Error::custom(format_args!("the slot `{slot}` stands here twice")));
                }
                slots.insert(slot, value);
            }
            Ok(slots)
        }
    }

    deserializer.deserialize_map(EachOnce(PhantomData))
}

/// Keys are declarations too.
fn check_keys(path: &Path, approval: &Approval, tools: &Tools) -> Result<(), ManifestError> {
    for Said(key) in approval.capabilities.keys().chain(tools.metadata.keys()) {
        if let Err(error) = key.parse::<Declaration>() {
            let what = format!("`{}` is no declaration: {error}", key.escape_default());
            return Err(ManifestError::new(path, None, what, "write a name as in `web.fetch` or `mcp.call:docs`"));
        }
    }
    Ok(())
}

fn parse<T: DeserializeOwned + Default>(path: &Path, text: &str, keys: &'static str) -> Result<T, ManifestError> {
    // Nothing at all is a manifest that declares nothing.
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(T::default());
    }
    let options = options! { duplicate_keys: DuplicateKeyPolicy::Error, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().map(|location| location.line());
        // What the reader says may hold the text itself, over several lines.
        let what = error.to_string().lines().next().unwrap_or("it is no YAML").to_owned();
        ManifestError::new(path, line, what, keys)
    })
}
