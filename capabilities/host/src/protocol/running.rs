//! What runs on in a host, as it is asked for and shown.

use capability_core::Timestamp;
use capability_core::audit::RunKind;
use capability_core::session::Subject;
use serde::{Deserialize, Serialize};

use super::Proof;
use crate::host::Running;

/// A question about what runs on. Operators only.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunningRequest {
    /// All of it.
    List(Proof),
    /// Stop one, by its id.
    Stop(Proof, String),
}

/// One turn of an agent, or one command in the background.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunningShown {
    /// What it is called.
    pub id: String,
    /// What kind of thing it is.
    pub kind: RunKind,
    /// The agent's name, or the beginning of the command: untrusted text.
    pub what: String,
    /// In whose name it runs.
    pub subject: Subject,
    /// For whom that one acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts_for: Option<Subject>,
    /// Since when.
    pub since: Timestamp,
    /// When its time is over.
    pub ends_at: Timestamp,
}

impl From<Running> for RunningShown {
    fn from(running: Running) -> Self {
        let Running { id, kind, what, subject, acts_for, since, ends_at, invocation: _ } = running;
        Self { id, kind, what, subject, acts_for, since, ends_at }
    }
}
