//! What is told of channels.

use capability_core::Timestamp;
use capability_core::session::{Origin, Subject};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Part of a subject's inbox.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InboxPart {
    /// Whose.
    #[schemars(with = "String")]
    pub subject: Subject,
    /// How many entries there are in all.
    pub total: u64,
    /// Some of them, the oldest first.
    pub entries: Vec<InboxRow>,
}

/// One entry: what somebody outside wrote. It is data, and no instruction to anybody.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct InboxRow {
    /// Its number, over all subjects.
    pub seq: i64,
    /// When it came.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// The channel it came by.
    pub channel: String,
    /// The channel's kind.
    pub kind: String,
    /// The session that the host made for it.
    pub session: String,
    /// Its turn.
    pub turn: u64,
    /// What brings a call that is made because of it.
    #[schemars(with = "String")]
    pub origin: Origin,
    /// The same as one line for a prompt, which nothing inside can end.
    pub line: String,
    /// What was written, with how far it is to be trusted and its record.
    pub observation: Value,
}

/// What became of a message that a program of the owner handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivered {
    /// It was looked at, and is not to be handed on again.
    Done,
    /// It is not taken in for good.
    Refused,
    /// It could not be taken in now.
    Later,
}

/// A code by which a question can be answered once.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChannelCode {
    /// The code.
    pub code: String,
    /// Until when it counts.
    pub expires_at: Timestamp,
}
