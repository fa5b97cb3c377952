//! What became of the things that an operator configures beside this host, skills and edges, and of what runs in it.

use serde::{Deserialize, Serialize};

use super::{ConfiguredName, InvocationId, ProvidedBy};
use crate::policy::PolicyRevision;
use crate::session::Subject;

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

/// What kind of thing runs on in a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// A turn of a configured agent.
    Agent,
    /// A command in the background.
    Process,
}

impl RunKind {
    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Process => "background process",
        }
    }
}

/// Something that an operator stopped. What it is called is of use to its subject, and not in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct RunStopped {
    /// What kind of thing.
    pub kind: RunKind,
    /// Whose.
    pub subject: Subject,
    /// The call that began it.
    pub invocation: InvocationId,
}
