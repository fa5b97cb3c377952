//! What a tool is called where a model calls it.
//!
//! The interfaces of models take names of 1 to 64 characters out of `[A-Za-z0-9_-]`; ours have dots, and a provider's may
//! have anything. A name depends on the tool alone, so that no other tool, however it is called, can rename it:
//!
//! | tool | name |
//! |---|---|
//! | `web.search` | `web-search` |
//! | two visible versions of it | `web-search-v1` and `web-search-v2`: no name means either |
//! | `read_file` of the MCP server `files` | `mcp-files--read_file` |
//! | one whose name does not fit | its beginning, a hyphen, and twelve digits of a hash over all of it |
//!
//! A segment of a capability's name has no hyphen and none is `v2`, and a double hyphen stands in names of providers' tools
//! only, so the forms cannot be taken for one another. What looks like the last form and is not gets that form as well. The way
//! back is the table [`WireNames`]; two tools of one name would show there.

use core::fmt;
use core::num::NonZeroU32;
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use sha2::{Digest as _, Sha256};

use crate::contract::CapabilityName;
use crate::hex;
use crate::provider::{ProviderDecision, ProviderType, ToolId};

/// The longest name that every model's interface takes, in bytes.
pub const MAX_WIRE_NAME_BYTES: usize = 64;

/// How many hexadecimal digits of a hash stand at the end of a name that did not fit.
const HASH_DIGITS: usize = 12;

/// Which tool is meant, whatever it is called: what decides on its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolKey {
    /// A compiled capability, whoever carries it out.
    Compiled(CapabilityName, NonZeroU32),
    /// A provider's own tool.
    Provided(ProviderType, ToolId),
}

impl ToolKey {
    /// The tool that `decision` is about.
    #[must_use]
    pub fn of(decision: &ProviderDecision) -> Self {
        match &decision.definition {
            None => Self::Compiled(decision.capability, decision.version),
            Some(_) => Self::Provided(
                decision.provider_type,
                ToolId {
                    provider: decision.provider_id.clone().into_owned(),
                    native: decision.native_id.clone().into_owned(),
                },
            ),
        }
    }
}

/// A name that every model's interface takes: 1 to [`MAX_WIRE_NAME_BYTES`] characters of `[A-Za-z0-9_-]`, a letter first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireName(Arc<str>);

impl WireName {
    /// The name of a capability of which one version is visible.
    ///
    /// ```
    /// # use capability_core::{capability, Registry};
    /// # use capability_core::surface::WireName;
    /// # /// Turns.
    /// # #[capability(name = "lamp.turn", version = 1, side_effect = read_only, network = local)]
    /// # fn lamp_turn() {}
    /// # let registry = Registry::collect(&[env!("CARGO_PKG_NAME")]).unwrap();
    /// # let lamp = registry.resolve("lamp.turn", 1).unwrap().entry();
    /// assert_eq!(WireName::of_capability(lamp.name()).as_str(), "lamp-turn");
    /// ```
    #[must_use]
    pub fn of_capability(name: CapabilityName) -> Self {
        Self(name.as_str().replace('.', "-").into())
    }

    /// The name of one version of a capability, beside others.
    #[must_use]
    pub fn of_version(name: CapabilityName, version: NonZeroU32) -> Self {
        let whole = format!("{}-v{version}", name.as_str().replace('.', "-"));
        if whole.len() <= MAX_WIRE_NAME_BYTES {
            return Self(whole.into());
        }
        let number = version.to_string();
        shortened(&whole, &[ProviderType::Compiled.as_str(), name.as_str(), &number])
    }

    /// The name of a provider's own tool.
    #[must_use]
    pub fn of_provided(kind: ProviderType, id: &ToolId) -> Self {
        let whole = format!("{}-{}--{}", kind.as_str(), id.provider, id.native);
        if whole.len() <= MAX_WIRE_NAME_BYTES
            && stands_for_itself(&id.provider)
            && is_plain(&id.native)
            && !looks_shortened(&whole)
        {
            return Self(whole.into());
        }
        shortened(&whole, &[kind.as_str(), &id.provider, &id.native])
    }

    /// A name that was given to a tool before.
    pub(super) fn assigned(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WireName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<WireName> for String {
    fn from(name: WireName) -> Self {
        name.as_str().to_owned()
    }
}

impl serde::Serialize for WireName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Whether `character` may stand in a wire name.
const fn is_legal(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// A provider's name in which no double hyphen is or begins.
fn stands_for_itself(provider: &str) -> bool {
    provider.starts_with(|first: char| first.is_ascii_lowercase())
        && provider.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
        && !provider.contains("--")
        && !provider.ends_with('-')
}

fn is_plain(native: &str) -> bool {
    !native.is_empty() && !native.starts_with('-') && native.chars().all(is_legal)
}

fn looks_shortened(name: &str) -> bool {
    let end = name.rsplit_once('-').map_or("", |(_, end)| end);
    end.len() == HASH_DIGITS && end.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The beginning of `whole` in legal characters, and a hash over `parts`.
fn shortened(whole: &str, parts: &[&str]) -> WireName {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let room = MAX_WIRE_NAME_BYTES - HASH_DIGITS - 1;
    let beginning = whole.chars().take(room).map(|c| if is_legal(c) { c } else { '_' });
    let digits = hex::text(&hash.finalize());
    WireName(beginning.chain(['-']).chain(digits.chars().take(HASH_DIGITS)).collect::<String>().into())
}

/// Two tools that would have one name. Neither is called by it, but that a compiled capability keeps its own from a provider's
/// tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// The name.
    pub name: WireName,
    /// Whose it would be, in order.
    pub tools: Vec<ToolKey>,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` would be the name of {} tools\nhelp: give one of their providers another name",
            self.name,
            self.tools.len()
        )
    }
}

/// The names of the tools of one surface, and the way back.
#[derive(Debug, Clone, Default)]
pub struct WireNames {
    names: BTreeMap<ToolKey, WireName>,
    tools: HashMap<WireName, ToolKey>,
    collisions: Vec<Collision>,
}

impl WireNames {
    /// Names every tool of `tools`; the order they come in and how often one comes change nothing.
    #[must_use]
    pub fn assign(tools: impl IntoIterator<Item = ToolKey>) -> Self {
        let tools: std::collections::BTreeSet<ToolKey> = tools.into_iter().collect();
        let mut versions: HashMap<CapabilityName, usize> = HashMap::new();
        for tool in &tools {
            if let ToolKey::Compiled(name, _) = tool {
                *versions.entry(*name).or_default() += 1;
            }
        }
        let mut claimed: BTreeMap<WireName, Vec<ToolKey>> = BTreeMap::new();
        for tool in tools {
            let name = match &tool {
                ToolKey::Compiled(name, version) if versions.get(name).is_some_and(|count| *count > 1) => {
                    WireName::of_version(*name, *version)
                }
                ToolKey::Compiled(name, _) => WireName::of_capability(*name),
                ToolKey::Provided(kind, id) => WireName::of_provided(*kind, id),
            };
            claimed.entry(name).or_default().push(tool);
        }
        Self::of(claimed)
    }

    /// The table of what each name is claimed by.
    fn of(claimed: BTreeMap<WireName, Vec<ToolKey>>) -> Self {
        let mut assigned = Self::default();
        for (name, tools) in claimed {
            let compiled = tools.iter().filter(|tool| matches!(tool, ToolKey::Compiled(..))).count();
            // Compiled ones come first, by the order of the keys.
            if let Some(first) = tools.first().filter(|_| tools.len() == 1 || compiled == 1) {
                assigned.names.insert(first.clone(), name.clone());
                assigned.tools.insert(name.clone(), first.clone());
            }
            if tools.len() > 1 {
                assigned.collisions.push(Collision { name, tools });
            }
        }
        assigned
    }

    /// What `tool` is called.
    #[must_use]
    pub fn name(&self, tool: &ToolKey) -> Option<&WireName> {
        self.names.get(tool)
    }

    /// Which tool is called exactly `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ToolKey> {
        self.tools.get(name)
    }

    /// Every name and its tool, by tool.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ToolKey, &WireName)> {
        self.names.iter()
    }

    /// The names that two tools would have.
    #[must_use]
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }
}

/// So that a table of names is asked with a text.
impl core::borrow::Borrow<str> for WireName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests;
