//! The operator's side of the executor: what waits, and the answers.

use core::num::NonZeroU32;
use std::collections::BTreeSet;

use crate::approval::{ApprovalId, ApprovalSummary, DenialLoop, Filed, Operator, OperatorDeed, PastCall};
use crate::audit::{ApprovalStep, Event, Receipt, SettingKey, SinkFault};
use crate::session::Subject;
use crate::store::{Answer, Found, Moved, StoreFault};
use crate::time::Timestamp;

use super::Executor;

/// Why an answer did not take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFault {
    /// The approval stands elsewhere, or is not there.
    Not(Moved),
    /// The store did not answer.
    Store,
    /// The answer could not be recorded, so it has no effect.
    Audit,
}

impl core::fmt::Display for AnswerFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Not(Moved::Not(status)) => write!(f, "that approval is {status}: only a pending one can be answered"),
            Self::Not(_) => f.write_str("no approval has that id"),
            Self::Store => f.write_str("the approval store did not answer: nothing was changed"),
            Self::Audit => f.write_str("the answer could not be recorded, so it has no effect"),
        }
    }
}

impl core::error::Error for AnswerFault {}

impl Executor {
    /// Everything that waits for an answer or for its run.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn waiting(&self, _: &Operator) -> Result<Vec<ApprovalSummary>, StoreFault> {
        self.expire_due().await?;
        self.0.approvals.open().await
    }

    /// One approval with its content, while it has any. For operators only: a proposer never reads what it filed.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn approval(&self, _: &Operator, id: ApprovalId) -> Result<Option<Found>, StoreFault> {
        self.expire_due().await?;
        self.0.approvals.find(id).await
    }

    /// Records a person's answer, and lets it take effect once its record is durable: nothing runs on an answer that the
    /// log does not hold. Answers and expiries are taken one at a time, each with its record, so that an answer on record is
    /// one that took effect: of two operators who answer at once, one is told where the approval stands. An answer that is
    /// on record twice was taken by a host that died, or a caller who went away, in between; the later one counts.
    ///
    /// # Errors
    /// [`AnswerFault`] says where the approval stands instead.
    pub async fn answer(&self, operator: &Operator, id: ApprovalId, answer: Answer) -> Result<Receipt, AnswerFault> {
        let mut recorded = self.0.desk.lock().await;
        // One time for all of it: what was not due when it was looked at is not due when it moves.
        let now = self.0.environment.now();
        self.expire(&mut recorded, now).await.map_err(|_| AnswerFault::Store)?;
        let Filed { approval, .. } = self.pending(id, now).await?;
        let (step, deed, reason, note) = match &answer {
            Answer::Approve => (ApprovalStep::Approved, OperatorDeed::Approved, None, None),
            Answer::Deny { reason, note } => (ApprovalStep::Denied, OperatorDeed::Denied, *reason, note.clone()),
        };
        let operator = operator.name();
        let event =
            Event::Approval { approval: id, step, operator: operator.clone(), reason, successor: None, code: None };
        let receipt = self.record(event).await.map_err(|SinkFault| AnswerFault::Audit)?;
        match self.0.approvals.answer(id, answer, operator, now).await {
            Ok(Moved::Yes) => {}
            Ok(not) => return Err(AnswerFault::Not(not)),
            Err(_) => return Err(AnswerFault::Store),
        }
        self.tell_why(&approval, deed, now, reason, note).await;
        self.0.changed();
        Ok(receipt)
    }

    /// Records the expiry of everything that is due, and then expires it. Called before every look at an approval; a host
    /// calls it now and then besides. While the log cannot take a record, what is due stays where it is: no move of it is
    /// possible any more, and its expiry is recorded as soon as the log can.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn expire_due(&self) -> Result<usize, StoreFault> {
        let mut recorded = self.0.desk.lock().await;
        self.expire(&mut recorded, self.0.environment.now()).await
    }

    /// Whoever calls it holds the desk.
    pub(super) async fn expire(
        &self,
        recorded: &mut BTreeSet<ApprovalId>,
        now: Timestamp,
    ) -> Result<usize, StoreFault> {
        self.0.settle().await;
        let open = self.0.approvals.open().await?;
        let due: Vec<_> = open.iter().filter(|open| now >= open.expires_at).map(|open| open.id).collect();
        for approval in &due {
            // Once, also when whoever asked for it went away before it moved.
            if !recorded.contains(approval) {
                if self.record(Event::Expiry { approval: *approval }).await.is_err() {
                    return Ok(0);
                }
                recorded.insert(*approval);
            }
        }
        let expired = self.0.approvals.expire_due(now).await?;
        recorded.clear();
        if !expired.is_empty() {
            self.0.changed();
        }
        Ok(expired.len())
    }

    /// Every loop of denials that holds: calls about which nobody is asked any more.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn denial_loops(&self, _: &Operator) -> Result<Vec<DenialLoop>, StoreFault> {
        self.0.approvals.denial_loops(self.0.environment.now()).await
    }

    /// Forgets, on record, the denials of a subject's calls, and says how many calls were counted.
    ///
    /// # Errors
    /// [`AnswerFault::Audit`] or [`AnswerFault::Store`]; nothing was forgotten then.
    pub async fn clear_denials(&self, operator: &Operator, subject: &Subject) -> Result<usize, AnswerFault> {
        let key = SettingKey::DenialsCleared { subject: subject.clone() };
        self.record_setting(operator, key).await.map_err(|SinkFault| AnswerFault::Audit)?;
        let cleared = self.0.approvals.clear_denials(subject).await.map_err(|_| AnswerFault::Store)?;
        self.0.changed();
        Ok(cleared)
    }

    /// The last call of this subject, capability and version that was approved and used, while it is retained: what a
    /// pending one is compared with.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn last_approved(
        &self,
        _: &Operator,
        subject: &Subject,
        capability: &str,
        version: NonZeroU32,
    ) -> Result<Option<PastCall>, StoreFault> {
        self.0.approvals.last_approved(subject, capability, version).await
    }

    /// The newest retained calls of a capability, the newest first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn past_calls(&self, _: &Operator, capability: &str, limit: u32) -> Result<Vec<PastCall>, StoreFault> {
        self.0.approvals.past_calls(capability, limit).await
    }

    /// Erases, on record, what is retained of one subject's calls or of everybody's, and says how many those were.
    ///
    /// # Errors
    /// [`AnswerFault::Audit`] or [`AnswerFault::Store`]; nothing was erased then.
    pub async fn erase_retained(&self, operator: &Operator, subject: Option<&Subject>) -> Result<usize, AnswerFault> {
        let key = SettingKey::RetainedErased { subject: subject.cloned() };
        self.record_setting(operator, key).await.map_err(|SinkFault| AnswerFault::Audit)?;
        self.0.approvals.erase_retained(subject).await.map_err(|_| AnswerFault::Store)
    }

    /// Tells whenever something at the desk may look different: what waits, what was answered, which grants live. The
    /// number means nothing but that it changed.
    #[must_use]
    pub fn changes(&self, _: &Operator) -> tokio::sync::watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Records that an operator changed a setting; the host changes it only when this succeeds.
    ///
    /// # Errors
    /// When the log cannot take it.
    pub async fn record_setting(&self, operator: &Operator, key: SettingKey) -> Result<Receipt, SinkFault> {
        self.record(Event::Configuration { key, operator: operator.name().clone() }).await
    }
}
