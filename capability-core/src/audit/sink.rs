//! Where records go.

use serde::Serialize;
use tokio::sync::oneshot;

use super::Record;

/// The hash of one line of the log, over its exact bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineHash(pub(crate) [u8; 32]);

impl LineHash {
    /// From the bytes of a hash.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

crate::hex::hex_text!(LineHash, 32, "a line hash is 64 hexadecimal digits");

/// Proof that a record is durable: its number in the log, and its line's hash where the sink keeps a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Receipt {
    /// The record's number, from 1.
    pub seq: u64,
    /// The hash of its line; absent from a sink without a chain, such as [`super::MemorySink`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<LineHash>,
}

/// The log cannot take the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkFault;

impl core::fmt::Display for SinkFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the audit log cannot take the record")
    }
}

impl core::error::Error for SinkFault {}

/// A record on its way. Dropping it drops only the interest in the receipt, never the record.
#[must_use = "an intent or outcome counts only once it is durable"]
pub enum Submission {
    /// The sink answered at once.
    Done(Result<Receipt, SinkFault>),
    /// The sink answers when the record is durable.
    Later(oneshot::Receiver<Result<Receipt, SinkFault>>),
}

impl Submission {
    /// Waits until the record is durable.
    ///
    /// # Errors
    /// When the log could not take it, or the sink went away.
    pub async fn durable(self) -> Result<Receipt, SinkFault> {
        match self {
            Self::Done(answer) => answer,
            Self::Later(answer) => answer.await.unwrap_or(Err(SinkFault)),
        }
    }

    /// Whether the sink has already said no.
    #[must_use]
    pub const fn is_refused(&self) -> bool {
        matches!(self, Self::Done(Err(_)))
    }
}

/// Takes records, in order. A sink whose write failed stays failed: it refuses at once from then on. One that runs out of room
/// refuses what would begin something, and goes on taking the outcomes of what runs.
pub trait Sink: Send + Sync + 'static {
    /// Takes a record. Does not block and does not await, so that a ticket that is dropped can still write.
    fn submit(&self, record: Record) -> Submission;
}
