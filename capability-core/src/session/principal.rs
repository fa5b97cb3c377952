//! For whom a session acts, as it is kept with what it asked for.

use serde::{Deserialize, Serialize};

use super::{SessionIdentity, SlotPath};
use crate::audit::ConfiguredName;

/// Somebody for whom a call is asked: stored with the question, so that whoever goes on with it is bound by what that one may do
/// then, and never read from a proposal.
///
/// As text it is the subject, the slot behind a `/`, and the agent in parentheses: `agent:kitchen/planner (agent critic)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principal {
    /// Who, in which mode and for which reason.
    pub identity: SessionIdentity,
    /// The slot of the subject's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotPath>,
    /// The agent that acts for it, by its name in the configuration; none where no agent does, but a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<ConfiguredName>,
}

impl Principal {
    /// Whether both are the same one to whoever is bound by it: sessions and turns of a schedule's maker are others each time.
    pub(crate) fn is_the_same(&self, other: &Self) -> bool {
        let who = |one: &Self| (one.identity.subject.clone(), one.identity.origin, one.slot.clone(), one.agent.clone());
        who(self) == who(other)
    }
}

impl core::fmt::Display for Principal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.identity.subject)?;
        if let Some(slot) = &self.slot {
            write!(f, "/{slot}")?;
        }
        match &self.agent {
            Some(agent) => write!(f, " (agent {agent})"),
            None => Ok(()),
        }
    }
}
