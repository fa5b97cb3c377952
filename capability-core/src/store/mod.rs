//! What the executor remembers, as traits, with implementations in memory.
//!
//! Durable ones live in the host. Every move of an approval is one compare-and-swap: of two that race, one wins and the
//! other learns where the approval stands.

mod memory;

pub use memory::{MemoryApprovals, MemoryGrants, MemoryHistory, MemoryOptIns, MemoryResults, MemoryTurns};

use core::num::NonZeroU32;

use crate::approval::{
    ApprovalId, ApprovalStatus, ApprovalSummary, DenialLoop, DenialReason, Filed, Grant, GrantEnd, GrantId,
    HistoryEntry, InvocationDigest, OperatorAct, PastCall, Successor,
};
use crate::audit::Receipt;
use crate::contract::CapabilityName;
use crate::future::{BoxFuture, Soon};
use crate::handle::OwnResult;
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
    /// No, with a reason and a note for the proposer.
    Deny {
        /// Why, as a word.
        reason: Option<DenialReason>,
        /// In the person's own words: told to the proposer, never in the audit.
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
    /// A denial's reason.
    pub reason: Option<DenialReason>,
    /// A denial's note.
    pub note: Option<String>,
    /// What came in its place, once it is superseded.
    pub successor: Option<Successor>,
}

impl core::fmt::Debug for Found {
    /// Without content and note.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Found({:?})", self.summary)
    }
}

/// The most approvals that may wait for one subject at a time.
pub const MAX_PENDING_PER_SUBJECT: usize = 64;

/// What a store says to a question that is to be filed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filing {
    /// It waits for a person.
    Filed,
    /// [`MAX_PENDING_PER_SUBJECT`] of its subject wait already.
    TooManyPending,
    /// People said no to this very call so often that nobody is asked again.
    DenialLoop,
}

/// Pending invocations and their answers: a named content store.
///
/// Content (arguments, target, preview, claims) is erased when an approval becomes final; a store that an operator told to
/// retain keeps arguments and target of what was used, for as long as that says. Finals stay findable as summaries for a
/// day, so that a late resume learns what happened.
///
/// Denials are counted with the move that denies, by [`Filed::repeated`]: a hash, never content. An approval of the same
/// call clears its count.
pub trait Approvals: Send + Sync + 'static {
    /// Files a pending invocation, unless there are too many or people keep saying no to it.
    fn file(&self, filed: Filed) -> BoxFuture<'_, Result<Filing, StoreFault>>;

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

    /// Ends a pending approval in favour of another call, which is filed and approved in the same step; or of none, with
    /// the reason for which it was refused.
    fn supersede(
        &self,
        id: ApprovalId,
        instead: Instead,
        operator: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>>;

    /// Every loop of denials that holds, the latest first.
    fn denial_loops(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<DenialLoop>, StoreFault>>;

    /// Forgets every denial of a subject's calls, and says how many calls were counted.
    fn clear_denials(&self, subject: &Subject) -> BoxFuture<'_, Result<usize, StoreFault>>;

    /// The last call of this subject, capability and version that was approved and used, while it is retained.
    fn last_approved(
        &self,
        subject: &Subject,
        capability: &str,
        version: NonZeroU32,
    ) -> BoxFuture<'_, Result<Option<PastCall>, StoreFault>>;

    /// The newest retained calls of a capability, of every version and subject, the newest first.
    fn past_calls(&self, capability: &str, limit: u32) -> BoxFuture<'_, Result<Vec<PastCall>, StoreFault>>;

    /// Erases what is retained, of one subject or of all, and says how many calls that were.
    fn erase_retained(&self, subject: Option<&Subject>) -> BoxFuture<'_, Result<usize, StoreFault>>;
}

/// What comes in a superseded approval's place.
#[derive(Debug, Clone)]
pub enum Instead {
    /// This call, approved.
    Filed(Box<Filed>),
    /// Nothing: the changed call was refused.
    Refused(crate::code::Code),
}

/// What a store says to the use of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// One use is taken, and so many are left.
    Left(u32),
    /// None was taken: there is no such grant, or it has ended, or its uses are used up.
    Not,
}

/// Standing answers: how often each was used, and what it was. A row answers nothing by itself; see [`Grant`].
pub trait Grants: Send + Sync + 'static {
    /// Keeps a new one.
    fn create(&self, grant: Grant) -> BoxFuture<'_, Result<(), StoreFault>>;

    /// Takes one use, atomically: of two that race for the last one, one gets it. The last one ends it.
    fn spend(&self, id: GrantId, now: Timestamp) -> BoxFuture<'_, Result<Spent, StoreFault>>;

    /// Ends one, and erases its target. `false` when it had ended, or there is none.
    fn end(&self, id: GrantId, why: GrantEnd, now: Timestamp) -> BoxFuture<'_, Result<bool, StoreFault>>;

    /// Everything that lives, and for a day what has ended, the newest first.
    fn all(&self) -> BoxFuture<'_, Result<Vec<Grant>, StoreFault>>;
}

/// What happened in a subject's name, as it may read it. Operators' acts come in through the executor alone.
pub trait History: Send + Sync + 'static {
    /// Tells a subject what an operator did about its call.
    fn tell(&self, act: OperatorAct) -> BoxFuture<'_, Result<(), StoreFault>>;

    /// A subject's newest entries, the oldest of them first.
    fn newest(&self, subject: &Subject, most: u32) -> BoxFuture<'_, Result<Vec<HistoryEntry>, StoreFault>>;
}

/// A result that is kept so that its own session can have it again.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptResult {
    /// Of which session.
    pub session: SessionId,
    /// Who spoke in it.
    pub subject: Subject,
    /// What it came with.
    pub receipt: Receipt,
    /// The result, and where it comes from.
    pub result: OwnResult,
}

impl core::fmt::Debug for KeptResult {
    /// Without the result.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "KeptResult({:?}, {:?})", self.receipt, self.result)
    }
}

/// The longest result that is kept, in bytes of its JSON text.
pub const MAX_KEPT_RESULT: usize = 64 * 1024;
/// How many results of one session are kept; the oldest go first.
pub const MAX_KEPT_RESULTS: usize = 128;

/// Results that their sessions can have again: a named content store. Session-scoped, capped in size and number, and erased
/// when the session ends, when their time is over, and when an operator says so.
pub trait Results: Send + Sync + 'static {
    /// Keeps one. It waits for nothing: a result is given whether or not it can be had again. What is above
    /// [`MAX_KEPT_RESULT`] is not kept.
    fn keep(&self, kept: KeptResult);

    /// The result of that session and subject with exactly that receipt.
    fn find(
        &self,
        session: SessionId,
        subject: &Subject,
        receipt: Receipt,
        now: Timestamp,
    ) -> BoxFuture<'static, Result<Option<OwnResult>, StoreFault>>;

    /// Erases what a session was given: it has ended.
    fn end(&self, session: SessionId);

    /// Erases the results of one subject, or of all, and says how many there were.
    fn erase(&self, subject: Option<&Subject>) -> BoxFuture<'static, Result<usize, StoreFault>>;
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
