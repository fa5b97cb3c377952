//! Whether another provider may serve in the first one's place.

use std::collections::BTreeMap;

use super::FallbackPolicy;

/// What an operator says of fallback, by capability. What nobody spoke of has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FallbackRules(BTreeMap<Box<str>, FallbackPolicy>);

impl FallbackRules {
    /// The same with a word about one capability.
    #[must_use]
    pub fn with(mut self, capability: &str, policy: FallbackPolicy) -> Self {
        self.0.insert(capability.into(), policy);
        self
    }

    /// What holds for a capability.
    #[must_use]
    pub fn of(&self, capability: &str) -> FallbackPolicy {
        self.0.get(capability).copied().unwrap_or(FallbackPolicy::Never)
    }
}
