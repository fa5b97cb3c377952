//! A subject's own journal.

use capability_core::handle::{BrokerFault, MAX_ENTRY_BYTES};
use capability_core::{Clock, Failure, Journal, Timestamp, capability};
use schemars::JsonSchema;
use serde::Serialize;

/// A note that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Noted {
    /// When it was written down.
    pub noted_at: Timestamp,
}

/// Leaves a note in your own journal, where the operator reads it. It cannot be changed or taken back.
#[capability(
    name = "subject.note",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "Leave a note",
    risk = low,
    bounds(per_turn = 8),
    check = fits,
    resident
)]
pub async fn subject_note(
    journal: &Journal,
    clock: &Clock,
    /// The note, at most 4096 bytes of text.
    #[schemars(length(min = 1, max = 4096))]
    text: String,
) -> Result<Noted, Failure> {
    journal.append(text).await.map_err(BrokerFault::into_public)?;
    Ok(Noted { noted_at: clock.now().await? })
}

/// The schema counts characters, the journal bytes.
fn fits(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the note says nothing\nhelp: write what the operator should know".to_owned());
    }
    if text.len() > MAX_ENTRY_BYTES {
        return Err(format!(
            "the note is {} bytes long: at most {MAX_ENTRY_BYTES} are kept\nhelp: say it shorter, or in several notes",
            text.len()
        ));
    }
    Ok(())
}
