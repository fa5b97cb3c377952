//! What a provider says about one of its tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::ProviderType;
use crate::arguments::canonical;

/// The longest definition that is taken, in bytes of its canonical text.
pub const MAX_DEFINITION_BYTES: usize = 256 * 1024;

/// Which tool of which provider: the identity of a foreign tool. Never joined into one text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ToolId {
    /// The configured connection's name, never what the other side calls itself.
    pub provider: String,
    /// What the provider calls the tool.
    pub native: String,
}

/// A foreign tool's number in records: the first 8 bytes of a hash over its identity, 16 hexadecimal digits as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolTag([u8; 8]);

crate::hex::hex_text!(ToolTag, 8, "a tool's tag is 16 hexadecimal digits");

impl ToolTag {
    /// The one of a tool.
    #[must_use]
    pub fn of(kind: ProviderType, id: &ToolId) -> Self {
        let mut hash = Sha256::new_with_prefix(b"capability tool, version 1");
        for part in [kind.as_str(), &id.provider, &id.native] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let whole: [u8; 32] = hash.finalize().into();
        let mut tag = [0; 8];
        tag.iter_mut().zip(whole).for_each(|(own, byte)| *own = byte);
        Self(tag)
    }
}

/// What a provider claims about a tool's effect. A claim that is missing stays missing; none lowers anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Claims {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Twice is once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It reaches beyond its own machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

/// Why a definition is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionFault {
    /// Above [`MAX_DEFINITION_BYTES`].
    TooLarge,
    /// The tool's own name is no [`is_native_id`](super::is_native_id).
    Name,
    /// A schema is no object, is nested too deeply, refers to itself, or refers to something outside it.
    Schema,
    /// The same provider has two tools of that name.
    Duplicate,
}

impl DefinitionFault {
    /// What is wrong, in words of ours.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::TooLarge => "its definition is larger than is taken",
            Self::Name => "its name is empty, too long, or not all of it can be seen",
            Self::Schema => "a schema of it cannot be enforced",
            Self::Duplicate => "its provider has two tools of that name",
        }
    }
}

/// One tool as its provider describes it, and the digest over all of it. Foreign text throughout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Which tool.
    pub id: ToolId,
    /// A short name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What a model is told about it.
    #[serde(default)]
    pub description: String,
    /// What its arguments must follow.
    pub input_schema: Value,
    /// What its structured result follows, when the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it claims.
    #[serde(default)]
    pub claims: Claims,
}

impl Claims {
    /// Whether it claims to change nothing, and to destroy.
    #[must_use]
    pub fn contradict(&self) -> bool {
        self.read_only == Some(true) && self.destructive == Some(true)
    }
}

impl ToolDefinition {
    /// SHA-256 over the canonical text of everything the provider says: one changed character is another definition.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.text()).into()
    }

    /// The size of its canonical text, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.text().len()
    }

    fn text(&self) -> Vec<u8> {
        let whole = serde_json::to_value(self).unwrap_or(Value::Null);
        canonical::text(&whole)
    }
}
