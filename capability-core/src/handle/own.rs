//! What happened in the name of whoever asks.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed,
};
use crate::audit::{InvocationId, OutcomeKind, Receipt};
use crate::call::Call;
use crate::code::{Code, Stage};
use crate::executor::Effect;
use crate::observation::Trust;
use crate::policy::Verdict;
use crate::time::Timestamp;

/// The most calls that one question about the past is answered with.
pub const MAX_OWN_CALLS: u32 = 50;

/// The results that this very session was given, and the record of what its subject asked for. Nobody else's: there is nothing
/// to name another by.
#[derive(Debug)]
pub struct OwnHistory(Call);

impl OwnHistory {
    /// The result of an earlier call of this session, by the receipt it came with. None when this session has no such receipt,
    /// or the result is kept no longer.
    ///
    /// # Errors
    /// [`BrokerFault::Unavailable`] when the host keeps no results or its store does not answer.
    pub async fn result(&self, receipt: Receipt) -> Result<Option<OwnResult>, BrokerFault> {
        match self.0.ask(BrokerRequest::Recall { receipt }).await? {
            BrokerReply::Recalled(found) => Ok(found.map(|found| *found)),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// What the subject asked for and what became of it, the newest first, at most [`MAX_OWN_CALLS`].
    ///
    /// # Errors
    /// [`BrokerFault::CapExceeded`] for more than that, [`BrokerFault::Unavailable`] when the log cannot be read.
    pub async fn calls(&self, wanted: OwnCalls) -> Result<Vec<OwnCall>, BrokerFault> {
        match self.0.ask(BrokerRequest::Reflect { wanted }).await? {
            BrokerReply::Reflected(calls) => Ok(calls),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

/// An earlier result.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnResult {
    /// The capability that gave it.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// When.
    pub at: Timestamp,
    /// How far what it says is to be trusted: as far as when it was given.
    pub trust: Trust,
    /// The result's JSON text.
    pub result: String,
}

impl core::fmt::Debug for OwnResult {
    /// Without the result.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "OwnResult({}@{}, {} bytes)", self.capability, self.version, self.result.len())
    }
}

/// Which calls are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCalls {
    /// The one with this record number alone.
    pub seq: Option<u64>,
    /// Only of this capability.
    pub capability: Option<String>,
    /// Only those that ended so.
    pub outcome: Option<OutcomeKind>,
    /// Only those that ended at or after this.
    pub since: Option<Timestamp>,
    /// Only those that ended before this.
    pub until: Option<Timestamp>,
    /// At most so many.
    pub most: u32,
}

/// One call and why it ended as it did: what the log knows of it, which is nothing that anybody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCall {
    /// The number of its last record: that of its receipt.
    pub seq: u64,
    /// The call.
    pub invocation: InvocationId,
    /// When it ended.
    pub at: Timestamp,
    /// The registered capability; none when there was none of the name that was asked for.
    pub capability: Option<String>,
    /// Its version.
    pub version: Option<NonZeroU32>,
    /// What policy said; none when it was refused before, or that record is older than what is looked at.
    pub verdict: Option<Verdict>,
    /// Who said so: every contributor that said more than `allow`.
    pub because: Vec<Because>,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// The stage it reached.
    pub stage: Stage,
    /// Why, where a stage of the framework says so.
    pub code: Option<Code>,
    /// What became of the world.
    pub effect: Effect,
    /// From entry to end, in microseconds.
    pub duration_us: u64,
    /// The size of its result's JSON text.
    pub result_bytes: Option<u64>,
}

/// What one contributor to a verdict said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Because {
    /// Which, by its word in the log.
    pub contributor: String,
    /// What it said.
    pub verdict: Verdict,
    /// Why.
    pub code: Code,
}

impl sealed::Sealed for OwnHistory {}
impl Handle for OwnHistory {
    const KIND: HandleKind = HandleKind::new(HandleFamily::OwnHistory, "");
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}
