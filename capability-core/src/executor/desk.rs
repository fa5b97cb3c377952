//! The operator's side of the executor: what waits, and the answers.

use std::collections::BTreeSet;

use crate::approval::{ApprovalId, ApprovalStatus, ApprovalSummary, Operator};
use crate::audit::{ApprovalStep, Event, Receipt, SettingKey, SinkFault};
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
        let standing = self.0.approvals.find(id).await.map_err(|_| AnswerFault::Store)?;
        match standing.map(|found| (found.summary.status, found.summary.expires_at)) {
            None => return Err(AnswerFault::Not(Moved::Unknown)),
            Some((ApprovalStatus::Pending, expires_at)) if now < expires_at => {}
            // Its expiry could not be recorded yet.
            Some((ApprovalStatus::Pending, _)) => return Err(AnswerFault::Not(Moved::Not(ApprovalStatus::Expired))),
            Some((elsewhere, _)) => return Err(AnswerFault::Not(Moved::Not(elsewhere))),
        }
        let step = match answer {
            Answer::Approve => ApprovalStep::Approved,
            Answer::Deny { .. } => ApprovalStep::Denied,
        };
        let event = Event::Approval { approval: id, step, operator: operator.name().clone() };
        let receipt = self.record(event).await.map_err(|SinkFault| AnswerFault::Audit)?;
        match self.0.approvals.answer(id, answer, operator.name(), now).await {
            Ok(Moved::Yes) => Ok(receipt),
            Ok(not) => Err(AnswerFault::Not(not)),
            Err(_) => Err(AnswerFault::Store),
        }
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

    async fn expire(&self, recorded: &mut BTreeSet<ApprovalId>, now: Timestamp) -> Result<usize, StoreFault> {
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
        Ok(expired.len())
    }

    /// Records that an operator changed a setting; the host changes it only when this succeeds.
    ///
    /// # Errors
    /// When the log cannot take it.
    pub async fn record_setting(&self, operator: &Operator, key: SettingKey) -> Result<Receipt, SinkFault> {
        self.record(Event::Configuration { key, operator: operator.name().clone() }).await
    }
}
