//! Questions to the rules, and what somebody can do under them.

use core::num::NonZeroU32;

use capability_core::Timestamp;
use capability_core::policy::analysis::{Comparison, Reach};
use capability_core::self_model::SelfModel;
use capability_core::session::{Mode, Origin, SlotPath, Subject};
use serde::{Deserialize, Serialize};

use super::Proof;

/// One question. None of them changes anything but the acceptance.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyQuestion {
    /// One call, with everything that has a say in it.
    Explain(Box<AskedCall>),
    /// What subjects may; every one that has a manifest, and the local one, when none is named.
    Matrix {
        /// Whom.
        subject: Option<Subject>,
        /// Which slot of its agent; every one, and none, when none is named.
        #[serde(default)]
        slot: Option<SlotPath>,
    },
    /// Whether a subject can ever do something.
    Reach {
        /// Who.
        subject: Subject,
        /// In which slot of its agent; in every one, and in none, when none is named.
        #[serde(default)]
        slot: Option<SlotPath>,
        /// What; everything when nothing is named.
        capability: Option<String>,
        /// Without anybody being asked.
        unasked: bool,
    },
    /// What a file of rules is to the rules in force; the operator's own file when none is given.
    Compare {
        /// The file's name, for what is told about it, and its text.
        file: Option<(String, String)>,
    },
    /// Let the operator's file come into force although it lets through more than what is.
    Accept {
        /// Who says so.
        proof: Proof,
        /// Which text: what `Compare` gave for it.
        digest: String,
    },
    /// What a subject can do at this moment.
    SelfModel {
        /// Whose eyes.
        eyes: Eyes,
        /// Answer only once something is otherwise than in this one, or after a short while with nothing.
        seen: Option<Box<SelfModel>>,
    },
}

/// A call that somebody asks about.
#[derive(Debug, Serialize, Deserialize)]
pub struct AskedCall {
    /// The dotted name.
    pub name: String,
    /// The version; the newest when none is given.
    pub version: Option<NonZeroU32>,
    /// Who asks.
    pub eyes: Eyes,
    /// The value of the argument that is its scope.
    pub scope: Option<String>,
    /// The value of the argument that is its target.
    pub target: Option<String>,
    /// When; now when it is not said.
    pub at: Option<Timestamp>,
}

/// Somebody who might ask.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Eyes {
    /// Who.
    pub subject: Subject,
    /// In which slot of its agent.
    #[serde(default)]
    pub slot: Option<SlotPath>,
    /// In which mode.
    pub mode: Mode,
    /// From where.
    pub origin: Origin,
}

/// Whether one capability can be reached.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reached {
    /// The capability, as `name@version`.
    pub capability: String,
    /// The slot of the subject's agent that this is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotPath>,
    /// Whether.
    pub reach: Reach,
}

/// A file of rules beside those in force.
#[derive(Debug, Serialize, Deserialize)]
pub struct Compared {
    /// The file's revision, as it is shown.
    pub revision: String,
    /// The revision in force.
    pub in_force: String,
    /// The file's revision, whole: what an acceptance names.
    pub digest: String,
    /// Whether it waits for an operator.
    pub waits: bool,
    /// What it is to them.
    pub comparison: Comparison,
}
