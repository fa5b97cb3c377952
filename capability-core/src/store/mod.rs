//! What the executor remembers, as traits, with implementations in memory.
//!
//! Durable ones live in the host. Every move of an approval is one compare-and-swap: of two that race, one wins and the
//! other learns where the approval stands.

mod memory;

pub use memory::{MemoryApprovals, MemoryOptIns, MemoryTurns};

use core::num::NonZeroU32;

use crate::approval::{ApprovalId, ApprovalStatus, ApprovalSummary, Filed, InvocationDigest};
use crate::contract::CapabilityName;
use crate::future::{BoxFuture, Soon};
use crate::policy::OptIn;
use crate::session::{SessionId, Subject, TurnId};
use crate::time::Timestamp;

/// A store did not answer. What it guards does not happen then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreFault;

impl core::fmt::Display for StoreFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a store of the host did not answer")
    }
}

impl core::error::Error for StoreFault {}

/// A person's answer.
#[derive(Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, to this very invocation.
    Approve,
    /// No, with a note for the proposer.
    Deny {
        /// Told to the proposer; never in the audit.
        note: Option<String>,
    },
}

impl core::fmt::Debug for Answer {
    /// Without the note.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Approve => "Approve",
            Self::Deny { .. } => "Deny",
        })
    }
}

/// What a store says to a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// It happened.
    Yes,
    /// It did not: there is no such approval.
    Unknown,
    /// It did not: the approval stands elsewhere.
    Not(ApprovalStatus),
    /// It did not: the digest is another one. Nothing is used up.
    Mismatch,
}

/// An approval as it is found by its id.
#[derive(Clone)]
pub struct Found {
    /// Where it stands and what remains of it.
    pub summary: ApprovalSummary,
    /// Its content, while it has any.
    pub filed: Option<Filed>,
    /// A denial's note.
    pub note: Option<String>,
}

impl core::fmt::Debug for Found {
    /// Without content and note.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Found({:?})", self.summary)
    }
}

/// The most approvals that may wait for one subject at a time.
pub const MAX_PENDING_PER_SUBJECT: usize = 64;

/// Pending invocations and their answers: a named content store.
///
/// Content (arguments, target, preview, claims) is erased when an approval becomes final. Finals stay findable as
/// summaries for a day, so that a late resume learns what happened.
pub trait Approvals: Send + Sync + 'static {
    /// Files a pending invocation. `false` when [`MAX_PENDING_PER_SUBJECT`] wait already.
    fn file(&self, filed: Filed) -> BoxFuture<'_, Result<bool, StoreFault>>;

    /// Finds one by its id.
    fn find(&self, id: ApprovalId) -> BoxFuture<'_, Result<Option<Found>, StoreFault>>;

    /// Everything that is pending or approved, oldest first.
    fn open(&self) -> BoxFuture<'_, Result<Vec<ApprovalSummary>, StoreFault>>;

    /// Records a person's answer, while it is pending and not due. What is due is reported as expired and left to
    /// [`Approvals::expire_due`], so that no expiry is told twice.
    fn answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        operator: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>>;

    /// Uses an approval up: approved, not due, and of exactly this digest; otherwise nothing changes.
    fn consume(
        &self,
        id: ApprovalId,
        digest: InvocationDigest,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>>;

    /// Expires everything that is due, and says which. The executor records each expiry first.
    fn expire_due(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<ApprovalId>, StoreFault>>;

    /// Takes a filed invocation back because its record could not be written.
    fn withdraw(&self, id: ApprovalId) -> BoxFuture<'_, Result<(), StoreFault>>;
}

/// What a reservation costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnCaps {
    /// The capability's own cap.
    pub capability: u32,
    /// The turn's overall cap.
    pub total: u32,
}

/// What a turn has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reservation {
    /// One invocation is reserved.
    Made,
    /// The capability's cap is used up.
    CapabilityExhausted,
    /// The overall cap is used up.
    TurnExhausted,
}

/// Invocations per turn, keyed by session and turn.
pub trait Turns: Send + Sync + 'static {
    /// Reserves one invocation under both caps, atomically: of two that race for the last one, one gets it.
    fn reserve(
        &self,
        session: SessionId,
        turn: TurnId,
        capability: (CapabilityName, NonZeroU32),
        caps: TurnCaps,
    ) -> Soon<'_, Result<Reservation, StoreFault>>;
}

/// The switches of external families. Read at every call.
pub trait OptIns: Send + Sync + 'static {
    /// The switch of one family. What cannot be read is [`OptIn::Damaged`], which counts as off.
    fn state(&self, family: &str) -> OptIn;
}
