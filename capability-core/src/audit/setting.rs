//! What became of the things that an operator configures beside this host: skills and edges.

use serde::Serialize;

use super::{ConfiguredName, ProvidedBy};
use crate::policy::PolicyRevision;

/// An operator's word about a skill. Nothing of what the skill says is in it but its name, which is an operator's by then.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct SkillSet {
    /// Which.
    pub skill: ConfiguredName,
    /// Whether it was accepted, or taken out of use.
    pub accepted: bool,
    /// Which rules it brings along; absent where it brings none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires: Option<PolicyRevision>,
}

/// An edge or relay that was switched on or off.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct EdgeSet {
    /// Which.
    pub provided: ProvidedBy,
    /// The new state.
    pub on: bool,
}
