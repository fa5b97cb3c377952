//! Stores that forget with the process.

use core::num::NonZeroU32;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use super::{
    Answer, Approvals, Found, MAX_PENDING_PER_SUBJECT, Moved, OptIns, Reservation, StoreFault, TurnCaps, Turns,
};
use crate::approval::{ApprovalId, ApprovalStatus, ApprovalSummary, Filed, InvocationDigest, Move, next_status};
use crate::contract::CapabilityName;
use crate::future::{BoxFuture, Soon};
use crate::policy::OptIn;
use crate::session::{SessionId, Subject, TurnId};
use crate::time::Timestamp;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreFault>> {
    Box::pin(core::future::ready(Ok(value)))
}

/// Approvals in memory, oldest first.
#[derive(Debug, Default)]
pub struct MemoryApprovals(Mutex<VecDeque<Found>>);

/// The most approvals kept; final ones go first.
const KEPT: usize = 4096;

impl MemoryApprovals {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One move of the state machine; content is erased with the last one.
    fn shift(found: &mut Found, tried: Move) -> Moved {
        match next_status(found.summary.status, tried) {
            Ok(next) => {
                found.summary.status = next;
                if next.is_final() {
                    found.filed = None;
                }
                Moved::Yes
            }
            Err(illegal) => Moved::Not(illegal.from),
        }
    }

    /// Tries a move, unless the approval is due: it stays where it is then, until [`Approvals::expire_due`] says that it
    /// expired.
    fn with(&self, id: ApprovalId, now: Timestamp, tried: impl FnOnce(&mut Found) -> Moved) -> Moved {
        let mut all = lock(&self.0);
        let Some(found) = all.iter_mut().find(|found| found.summary.id == id) else {
            return Moved::Unknown;
        };
        if now >= found.summary.expires_at && !found.summary.status.is_final() {
            return Moved::Not(ApprovalStatus::Expired);
        }
        tried(found)
    }
}

impl Approvals for MemoryApprovals {
    fn file(&self, filed: Filed) -> BoxFuture<'_, Result<bool, StoreFault>> {
        let mut all = lock(&self.0);
        let of_subject = |found: &&Found| {
            found.summary.status == ApprovalStatus::Pending
                && found.summary.identity.subject == filed.approval.identity.subject
        };
        if all.iter().filter(of_subject).count() >= MAX_PENDING_PER_SUBJECT {
            return ready(false);
        }
        if all.len() >= KEPT
            && let Some(oldest) = all.iter().position(|found| found.summary.status.is_final())
        {
            all.remove(oldest);
        }
        let pending = &filed.approval;
        let summary = ApprovalSummary {
            id: pending.id,
            status: ApprovalStatus::Pending,
            capability: pending.capability.clone(),
            version: pending.version,
            class: pending.class,
            risk: pending.risk,
            identity: pending.identity.clone(),
            created_at: pending.created_at,
            expires_at: pending.expires_at,
        };
        all.push_back(Found { summary, filed: Some(filed), note: None });
        ready(true)
    }

    fn find(&self, id: ApprovalId) -> BoxFuture<'_, Result<Option<Found>, StoreFault>> {
        ready(lock(&self.0).iter().find(|found| found.summary.id == id).cloned())
    }

    fn open(&self) -> BoxFuture<'_, Result<Vec<ApprovalSummary>, StoreFault>> {
        let all = lock(&self.0);
        ready(all.iter().filter(|found| !found.summary.status.is_final()).map(|found| found.summary.clone()).collect())
    }

    fn answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        _: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        ready(self.with(id, now, |found| match answer {
            Answer::Approve => Self::shift(found, Move::Approve),
            Answer::Deny { note } => {
                let moved = Self::shift(found, Move::Deny);
                if moved == Moved::Yes {
                    found.note = note;
                }
                moved
            }
        }))
    }

    fn consume(
        &self,
        id: ApprovalId,
        digest: InvocationDigest,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        ready(self.with(id, now, |found| match &found.filed {
            Some(filed) if filed.digest != digest => Moved::Mismatch,
            _ => Self::shift(found, Move::Consume),
        }))
    }

    fn expire_due(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<ApprovalId>, StoreFault>> {
        let mut all = lock(&self.0);
        let due = all.iter_mut().filter(|found| now >= found.summary.expires_at);
        ready(
            due.filter_map(|found| (Self::shift(found, Move::Expire) == Moved::Yes).then_some(found.summary.id))
                .collect(),
        )
    }

    fn withdraw(&self, id: ApprovalId) -> BoxFuture<'_, Result<(), StoreFault>> {
        lock(&self.0).retain(|found| found.summary.id != id);
        ready(())
    }
}

/// Turn counters in memory. The oldest turns are forgotten first.
#[derive(Debug, Default)]
pub struct MemoryTurns(Mutex<TurnTable>);

#[derive(Debug, Default)]
struct TurnTable {
    turns: HashMap<(SessionId, TurnId), Turn>,
    order: VecDeque<(SessionId, TurnId)>,
}

#[derive(Debug, Default)]
struct Turn {
    total: u32,
    each: Vec<((CapabilityName, NonZeroU32), u32)>,
}

/// The most turns remembered. What a host lets proposers number themselves, they can also use up: a host that does counts
/// per subject, as the command line does.
const TURNS_KEPT: usize = 16_384;

impl MemoryTurns {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Turns for MemoryTurns {
    fn reserve(
        &self,
        session: SessionId,
        turn: TurnId,
        capability: (CapabilityName, NonZeroU32),
        caps: TurnCaps,
    ) -> Soon<'_, Result<Reservation, StoreFault>> {
        let mut table = lock(&self.0);
        let TurnTable { turns, order } = &mut *table;
        let key = (session, turn);
        let counted = turns.entry(key).or_insert_with(|| {
            order.push_back(key);
            Turn::default()
        });
        let at = counted.each.iter().position(|(of, _)| *of == capability);
        let used = at.and_then(|at| counted.each.get(at)).map_or(0, |(_, used)| *used);
        let reservation = if used >= caps.capability {
            Reservation::CapabilityExhausted
        } else if counted.total >= caps.total {
            Reservation::TurnExhausted
        } else {
            counted.total += 1;
            match at.and_then(|at| counted.each.get_mut(at)) {
                Some((_, used)) => *used += 1,
                None => counted.each.push((capability, 1)),
            }
            Reservation::Made
        };
        if order.len() > TURNS_KEPT
            && let Some(oldest) = order.pop_front()
        {
            turns.remove(&oldest);
        }
        Soon::Ready(Ok(reservation))
    }
}

/// Switches in memory: everything is off until it is set.
#[derive(Debug, Default)]
pub struct MemoryOptIns(Mutex<BTreeSet<String>>);

impl MemoryOptIns {
    /// Everything off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Turns a family on or off.
    pub fn set(&self, family: &str, on: bool) {
        let mut families = lock(&self.0);
        if on {
            families.insert(family.to_owned());
        } else {
            families.remove(family);
        }
    }
}

impl OptIns for MemoryOptIns {
    fn state(&self, family: &str) -> OptIn {
        if lock(&self.0).contains(family) { OptIn::On } else { OptIn::Off }
    }
}
