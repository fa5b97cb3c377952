//! Approvals that forget with the process.

use core::num::NonZeroU32;
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Mutex;

use hashbrown::HashMap;

use super::{lock, ready};
use crate::approval::{
    ApprovalId, ApprovalStatus, ApprovalSummary, DENIALS_LAPSE, DenialLoop, Filed, InvocationDigest, Move, PastCall,
    Successor, next_status,
};
use crate::future::BoxFuture;
use crate::session::Subject;
use crate::store::{Answer, Approvals, Filing, Found, Instead, MAX_PENDING_PER_SUBJECT, Moved, StoreFault};
use crate::time::Timestamp;

/// Approvals in memory, oldest first.
#[derive(Debug, Default)]
pub struct MemoryApprovals {
    kept: Mutex<Kept>,
    retain: Option<Duration>,
}

#[derive(Debug, Default)]
struct Kept {
    all: VecDeque<Found>,
    denials: HashMap<InvocationDigest, DenialLoop>,
    /// The newest last.
    past: VecDeque<PastCall>,
}

/// The most approvals kept; final ones go first. Retained calls and counted denials are as many at most.
const KEPT: usize = 4096;

impl MemoryApprovals {
    /// An empty store that retains nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store that retains what was used for so long.
    #[must_use]
    pub fn retaining(retain: Duration) -> Self {
        Self { kept: Mutex::default(), retain: Some(retain) }
    }
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

impl Kept {
    /// The one of this id, unless it is due: it stays where it is then, until [`Approvals::expire_due`] says that it
    /// expired.
    fn movable(&mut self, id: ApprovalId, now: Timestamp) -> Result<&mut Found, Moved> {
        let found = self.all.iter_mut().find(|found| found.summary.id == id).ok_or(Moved::Unknown)?;
        if now >= found.summary.expires_at && !found.summary.status.is_final() {
            return Err(Moved::Not(ApprovalStatus::Expired));
        }
        Ok(found)
    }

    fn keep(&mut self, found: Found) {
        if self.all.len() >= KEPT
            && let Some(oldest) = self.all.iter().position(|found| found.summary.status.is_final())
        {
            self.all.remove(oldest);
        }
        self.all.push_back(found);
    }

    fn count_denial(&mut self, filed: &Filed, now: Timestamp) {
        let pending = &filed.approval;
        self.denials.retain(|_, denied| now < denied.until);
        if self.denials.len() >= KEPT
            && let Some(oldest) = self.denials.iter().min_by_key(|(_, denied)| denied.last_at).map(|(key, _)| *key)
        {
            self.denials.remove(&oldest);
        }
        let counted = self.denials.entry(filed.repeated).or_insert_with(|| DenialLoop {
            subject: pending.identity.subject.clone(),
            capability: pending.capability.clone(),
            version: pending.version,
            denials: 0,
            last_at: now,
            until: now,
        });
        counted.denials = counted.denials.saturating_add(1);
        counted.last_at = now;
        counted.until = now.after(DENIALS_LAPSE);
    }
}

const fn filed_as(filed: Filed, summary: ApprovalSummary) -> Found {
    Found { summary, filed: Some(filed), reason: None, note: None, successor: None }
}

impl Approvals for MemoryApprovals {
    fn file(&self, filed: Filed) -> BoxFuture<'_, Result<Filing, StoreFault>> {
        let mut kept = lock(&self.kept);
        if kept.denials.get(&filed.repeated).is_some_and(|denied| denied.holds(filed.approval.created_at)) {
            return ready(Filing::DenialLoop);
        }
        let of_subject = |found: &&Found| {
            found.summary.status == ApprovalStatus::Pending
                && found.summary.identity.subject == filed.approval.identity.subject
        };
        if kept.all.iter().filter(of_subject).count() >= MAX_PENDING_PER_SUBJECT {
            return ready(Filing::TooManyPending);
        }
        let summary = filed.summary();
        kept.keep(filed_as(filed, summary));
        ready(Filing::Filed)
    }

    fn find(&self, id: ApprovalId) -> BoxFuture<'_, Result<Option<Found>, StoreFault>> {
        ready(lock(&self.kept).all.iter().find(|found| found.summary.id == id).cloned())
    }

    fn open(&self) -> BoxFuture<'_, Result<Vec<ApprovalSummary>, StoreFault>> {
        let open = |found: &&Found| !found.summary.status.is_final();
        ready(lock(&self.kept).all.iter().filter(open).map(|found| found.summary.clone()).collect())
    }

    fn answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        _: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        let mut kept = lock(&self.kept);
        let found = match kept.movable(id, now) {
            Ok(found) => found,
            Err(not) => return ready(not),
        };
        let filed = found.filed.clone();
        let denied = matches!(answer, Answer::Deny { .. });
        let moved = shift(found, if denied { Move::Deny } else { Move::Approve });
        if moved == Moved::Yes {
            if let Answer::Deny { reason, note } = answer {
                found.reason = reason;
                found.note = note;
            }
            match filed {
                Some(filed) if denied => kept.count_denial(&filed, now),
                Some(filed) => drop(kept.denials.remove(&filed.repeated)),
                None => {}
            }
        }
        ready(moved)
    }

    fn consume(
        &self,
        id: ApprovalId,
        digest: InvocationDigest,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        let mut kept = lock(&self.kept);
        let found = match kept.movable(id, now) {
            Ok(found) => found,
            Err(not) => return ready(not),
        };
        let filed = found.filed.clone();
        if filed.as_ref().is_some_and(|filed| filed.digest != digest) {
            return ready(Moved::Mismatch);
        }
        let moved = shift(found, Move::Consume);
        if let (Moved::Yes, Some(_), Some(Filed { approval, .. })) = (moved, self.retain, filed) {
            if kept.past.len() >= KEPT {
                kept.past.pop_front();
            }
            kept.past.push_back(PastCall {
                approval: approval.id,
                subject: approval.identity.subject,
                capability: approval.capability,
                version: approval.version,
                arguments: approval.arguments,
                target: approval.target,
                at: now,
            });
        }
        ready(moved)
    }

    fn expire_due(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<ApprovalId>, StoreFault>> {
        let mut kept = lock(&self.kept);
        if let Some(retain) = self.retain {
            kept.past.retain(|past| now < past.at.after(retain));
        }
        let due = kept.all.iter_mut().filter(|found| now >= found.summary.expires_at);
        ready(due.filter_map(|found| (shift(found, Move::Expire) == Moved::Yes).then_some(found.summary.id)).collect())
    }

    fn withdraw(&self, id: ApprovalId) -> BoxFuture<'_, Result<(), StoreFault>> {
        lock(&self.kept).all.retain(|found| found.summary.id != id);
        ready(())
    }

    fn supersede(
        &self,
        id: ApprovalId,
        instead: Instead,
        _: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        let mut kept = lock(&self.kept);
        let moved = match kept.movable(id, now) {
            Ok(found) => {
                let moved = shift(found, Move::Supersede);
                if moved == Moved::Yes {
                    found.successor = Some(match &instead {
                        Instead::Filed(filed) => Successor::By(filed.approval.id),
                        Instead::Refused(code) => Successor::Refused(*code),
                    });
                }
                moved
            }
            Err(not) => not,
        };
        if let (Moved::Yes, Instead::Filed(filed)) = (moved, instead) {
            kept.denials.remove(&filed.repeated);
            let summary = ApprovalSummary { status: ApprovalStatus::Approved, ..filed.summary() };
            kept.keep(filed_as(*filed, summary));
        }
        ready(moved)
    }

    fn denial_loops(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<DenialLoop>, StoreFault>> {
        let kept = lock(&self.kept);
        let mut held: Vec<_> = kept.denials.values().filter(|denied| denied.holds(now)).cloned().collect();
        held.sort_by_key(|denied| core::cmp::Reverse(denied.last_at));
        ready(held)
    }

    fn clear_denials(&self, subject: &Subject) -> BoxFuture<'_, Result<usize, StoreFault>> {
        let mut kept = lock(&self.kept);
        let before = kept.denials.len();
        kept.denials.retain(|_, denied| denied.subject != *subject);
        ready(before - kept.denials.len())
    }

    fn last_approved(
        &self,
        subject: &Subject,
        capability: &str,
        version: NonZeroU32,
    ) -> BoxFuture<'_, Result<Option<PastCall>, StoreFault>> {
        let same =
            |past: &&PastCall| past.subject == *subject && past.capability == capability && past.version == version;
        ready(lock(&self.kept).past.iter().rev().find(same).cloned())
    }

    fn past_calls(&self, capability: &str, limit: u32) -> BoxFuture<'_, Result<Vec<PastCall>, StoreFault>> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let of = |past: &&PastCall| past.capability == capability;
        ready(lock(&self.kept).past.iter().rev().filter(of).take(limit).cloned().collect())
    }

    fn erase_retained(&self, subject: Option<&Subject>) -> BoxFuture<'_, Result<usize, StoreFault>> {
        let mut kept = lock(&self.kept);
        let before = kept.past.len();
        kept.past.retain(|past| subject.is_some_and(|subject| past.subject != *subject));
        ready(before - kept.past.len())
    }
}
