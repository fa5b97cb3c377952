//! What operators did about a subject's calls, as the subject may read it.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::DenialReason;
use crate::session::Subject;
use crate::time::Timestamp;

/// What an operator did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorDeed {
    /// Said yes to a call.
    Approved,
    /// Said no to a call.
    Denied,
    /// Put another call in its place.
    Edited,
    /// Gave a standing answer.
    Granted,
    /// Took a standing answer back.
    Revoked,
}

impl OperatorDeed {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Approved, Self::Denied, Self::Edited, Self::Granted, Self::Revoked];

    /// The word used by stores and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Edited => "edited",
            Self::Granted => "granted",
            Self::Revoked => "revoked",
        }
    }
}

impl core::fmt::Display for OperatorDeed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One operator's act in a subject's history. It goes in through the executor alone: no capability and no proposal can
/// write one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorAct {
    /// Whose call it was about.
    pub subject: Subject,
    /// When.
    pub at: Timestamp,
    /// What was done.
    pub deed: OperatorDeed,
    /// The capability's name.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// Why, for a denial that has a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<DenialReason>,
    /// What the operator says to the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl core::fmt::Debug for OperatorAct {
    /// Without the note.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "OperatorAct({} {}@{} of {})", self.deed, self.capability, self.version, self.subject)
    }
}

/// One entry of a subject's history, and who wrote it: told apart by the store, not by the text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum HistoryEntry {
    /// The subject itself, through a `Journal` handle.
    Subject {
        /// When.
        at: Timestamp,
        /// Its own words.
        text: String,
    },
    /// An operator.
    Operator(OperatorAct),
}

impl core::fmt::Debug for HistoryEntry {
    /// Without a word of it.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Subject { at, text } => write!(f, "Subject({at}, {} bytes)", text.len()),
            Self::Operator(act) => act.fmt(f),
        }
    }
}
