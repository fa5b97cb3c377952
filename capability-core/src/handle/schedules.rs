//! Calls that are made again and again, at times that a subject asked for.

use core::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::workspace::{WorkspaceAccess, Write};
use super::{BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OnDevice, Targetless, sealed};
use crate::call::Call;
use crate::time::Timestamp;

/// The longest pattern of times, in bytes.
pub const MAX_CRON_BYTES: usize = 128;
/// The longest name of a time zone, in bytes.
pub const MAX_ZONE_BYTES: usize = 64;
/// The longest argument text of a planned call, in bytes.
pub const MAX_PLANNED_BYTES: usize = 16 * 1024;
/// The most schedules of one subject.
pub const MAX_SCHEDULES: u32 = 32;

/// The schedules of the subject that the call is made for, and of no other.
///
/// Each run of a schedule is a call of its own, in a fresh turn: it declares the one capability that it was made for, acts for the
/// subject that made it, and passes every stage, a person's answer included.
pub struct Schedules<A>(Call, PhantomData<A>);

impl<A> Schedules<A> {
    /// When a plan would run next, at most three times; nothing is made. A `preview` may ask.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedPlan`] for a pattern or a zone that there is not, or a capability that cannot be planned.
    pub async fn next(&self, plan: Plan) -> Result<Vec<Timestamp>, BrokerFault> {
        match self.0.ask(BrokerRequest::Foreseen { plan }).await? {
            BrokerReply::Foreseen(times) => Ok(times),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// The subject's schedules, by number.
    ///
    /// # Errors
    /// [`BrokerFault::Unavailable`] when the store does not answer.
    pub async fn list(&self) -> Result<Vec<Scheduled>, BrokerFault> {
        match self.0.ask(BrokerRequest::Schedules).await? {
            BrokerReply::Schedules(found) => Ok(found),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl Schedules<Write> {
    /// Makes one, and gives its number.
    ///
    /// # Errors
    /// Those of [`Schedules::next`]; [`BrokerFault::CapExceeded`] above [`MAX_SCHEDULES`]; [`BrokerFault::Unavailable`] when the store
    /// does not answer.
    pub async fn create(&self, plan: Plan) -> Result<u64, BrokerFault> {
        match self.0.ask(BrokerRequest::Schedule { plan }).await? {
            BrokerReply::Filed(number) => Ok(number),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Ends one of the subject's own: it runs no more, and what it said is erased.
    ///
    /// # Errors
    /// [`BrokerFault::UnknownSchedule`]; [`BrokerFault::Unavailable`] when the store does not answer.
    pub async fn cancel(&self, number: u64) -> Result<(), BrokerFault> {
        match self.0.ask(BrokerRequest::Unschedule { number }).await? {
            BrokerReply::Done => Ok(()),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl<A> core::fmt::Debug for Schedules<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Schedules")
    }
}

impl<A> sealed::Sealed for Schedules<A> {}
impl<A: WorkspaceAccess> Handle for Schedules<A> {
    const KIND: HandleKind = HandleKind { may_change: A::MAY_CHANGE, ..HandleKind::new(HandleFamily::Schedules, "") };
    type Reach = OnDevice;
    type Power = A::Power;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

/// What is to be called, and when.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Minute, hour, day of the month, month, day of the week.
    pub cron: String,
    /// Where the clock is that this is about, as an IANA name.
    pub zone: String,
    /// The capability, with its scope where it has one, as a manifest would declare it.
    pub capability: String,
    /// Its arguments, as the text of a JSON object.
    pub arguments: String,
}

impl Plan {
    /// Whether it is within the caps.
    #[must_use]
    pub const fn fits(&self) -> bool {
        self.cron.len() <= MAX_CRON_BYTES
            && self.zone.len() <= MAX_ZONE_BYTES
            && self.capability.len() <= 256
            && self.arguments.len() <= MAX_PLANNED_BYTES
    }
}

impl core::fmt::Debug for Plan {
    /// Without what would be asked.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Plan")
    }
}

/// A schedule, and what became of it so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// Its number.
    pub number: u64,
    /// What it calls, and when.
    pub plan: Plan,
    /// When it runs next; `None` when no such time comes any more.
    pub next_at: Option<Timestamp>,
    /// When it ran last.
    pub last_at: Option<Timestamp>,
    /// How that ended, as the outcome's own word: `executed`, `pending`, `rejected` and so on.
    pub last_outcome: Option<String>,
    /// How many of its times went by while no host was there to run it. None of them is made up for.
    pub missed: u64,
}
