//! What subjects keep, leave for people and have done at times, as it is shown.

use capability_core::Timestamp;
use capability_core::approval::HistoryEntry;
use capability_core::session::Subject;
use serde::{Deserialize, Serialize};

/// One open review, in its subject's words.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReviewShown {
    /// Its number.
    pub number: u64,
    /// Who filed it.
    pub subject: Subject,
    /// What kind of thing is asked for.
    pub kind: String,
    /// What it is about.
    pub about: String,
    /// Why.
    pub reason: String,
    /// When it was filed.
    pub at: Timestamp,
}

/// One text that a subject keeps, in its own words.
#[derive(Debug, Serialize, Deserialize)]
pub struct StateShown {
    /// `core` or `session`.
    pub scope: String,
    /// The key.
    pub key: String,
    /// The text.
    pub value: String,
    /// When it was put.
    pub at: Timestamp,
}

/// One schedule and whose it is.
#[derive(Debug, Serialize, Deserialize)]
pub struct ScheduleShown {
    /// For whom it acts.
    pub subject: Subject,
    /// The schedule, in its subject's words.
    #[serde(flatten)]
    pub schedule: capability_core::handle::Scheduled,
}

/// One configured repository.
#[derive(Debug, Serialize, Deserialize)]
pub struct RepositoryState {
    /// Its name in the configuration.
    pub name: String,
    /// Its folder or address.
    pub place: String,
    /// Whether it is fetched before it is read.
    pub elsewhere: bool,
    /// When it was fetched last.
    pub fetched_at: Option<Timestamp>,
}

/// One secret, without a word of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct SecretShown {
    /// Its name; for a service's own credential, where the configuration names it, as in `endpoints.pihole`.
    pub name: String,
    /// What kind of place it comes from: `stored`, `file`, `dotenv`, `environment` or `credential`.
    pub source: String,
    /// The place.
    pub place: String,
    /// `ready`, or why it cannot be used: `absent`, `unreadable`, `malformed`, `expired` or `twice`.
    pub state: String,
    /// `short` when it is too short to be bound to a command and to be found in what goes out, else `usual` or `long`; absent
    /// while it cannot be read.
    pub length: Option<String>,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// What would be right, where something is not.
    pub help: Option<String>,
}

/// Part of a subject's journal.
#[derive(Debug, Serialize, Deserialize)]
pub struct JournalPart {
    /// Whose.
    pub subject: Subject,
    /// How many entries there are in all.
    pub total: u64,
    /// The newest of them, oldest first.
    pub entries: Vec<Entry>,
}

/// One journal entry: what its subject wrote, in its own words, which are no instruction to anybody; or what an operator
/// did about its calls.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, over all subjects.
    pub seq: i64,
    /// Who wrote it, when, and what.
    #[serde(flatten)]
    pub entry: HistoryEntry,
}
