//! A person's answer to one pending invocation.

mod denial;
mod digest;
mod grant;
mod history;
mod record;
mod status;
mod wrapper;

pub use denial::{DENIALS_BEFORE_A_LOOP, DENIALS_LAPSE, DenialLoop, DenialReason, MAX_NOTE_BYTES};
pub(crate) use digest::{DigestInput, Served};
pub use digest::{DigestKey, Ground, InvocationDigest};
pub use grant::{Grant, GrantEnd, GrantId, GrantLimit, GrantLimits, GrantScope, Grantable, MAX_GRANT_USES};
pub use history::{HistoryEntry, OperatorAct, OperatorDeed};
pub use record::{ApprovalId, ApprovalSummary, Carrier, Claims, Filed, PastCall, PendingApproval, Successor};
pub use status::{ApprovalStatus, IllegalMove, Move, next_status};

use crate::session::Subject;

/// Somebody who proved an operator credential. Minted by the host, never from anything a proposer sends.
#[derive(Debug, Clone)]
pub struct Operator(Subject);

impl Operator {
    /// Who, for the audit.
    #[must_use]
    pub fn name(&self) -> &Subject {
        &self.0
    }
}

/// The door through which operators come: handed out once, with the executor. Keep it where credentials are checked.
pub struct OperatorMint(pub(crate) ());

impl OperatorMint {
    /// An operator whose credential the host has just checked.
    #[must_use]
    pub fn admit(&self, name: Subject) -> Operator {
        Operator(name)
    }
}
