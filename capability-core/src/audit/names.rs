//! Names that a record may hold: from the registry, or from an operator's configuration.

use serde::Serialize;

use crate::contract::CapabilityName;
use crate::handle::is_configured_name;

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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ConfiguredName(Box<str>);

impl ConfiguredName {
    /// That name; `None` for a text that is none.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        is_configured_name(name).then(|| Self(name.into()))
    }
}
