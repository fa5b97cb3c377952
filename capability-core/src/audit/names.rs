//! Words that a record may hold, because nobody who asks can choose them.

use serde::{Deserialize, Serialize};

use crate::contract::CapabilityName;
use crate::handle::is_configured_name;

/// An invocation's name in the log: half of it random per start, half counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InvocationId(pub(crate) [u8; 16]);

crate::hex::hex_text!(InvocationId, 16, "an invocation id is 32 hexadecimal digits");

/// The first segment of a registered name; it cannot be made from other text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct FamilyName(&'static str);

impl From<CapabilityName> for FamilyName {
    fn from(name: CapabilityName) -> Self {
        let whole: &'static str = name.as_static();
        Self(whole.split_once('.').map_or(whole, |(family, _)| family))
    }
}

/// A name that an operator wrote into the configuration: `[a-z][a-z0-9_-]*`, at most 32 bytes; it cannot be made from other text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ConfiguredName(Box<str>);

impl ConfiguredName {
    /// That name; `None` for a text that is none.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        is_configured_name(name).then(|| Self(name.into()))
    }
}

impl TryFrom<String> for ConfiguredName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::of(&name).ok_or("a configured name is `[a-z][a-z0-9_-]*`, at most 32 bytes")
    }
}

impl core::fmt::Display for ConfiguredName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where in a capability's *own schema* a refusal arose: keyword and schema path, neither of which a caller can choose.
///
/// Boxed: few records have one, and every record would carry its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SchemaPlace(Box<Place>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Place {
    keyword: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    schema_path: String,
}

impl SchemaPlace {
    /// In a schema that somebody else wrote: the standard keyword, and nothing of where it stands.
    pub(crate) fn of_foreign(keyword: &'static str) -> Self {
        Self::of_schema(keyword, String::new())
    }

    /// Reached only from the validator, with a path inside the compiled schema.
    pub(crate) fn of_schema(keyword: &'static str, schema_path: String) -> Self {
        Self(Box::new(Place { keyword, schema_path }))
    }
}
