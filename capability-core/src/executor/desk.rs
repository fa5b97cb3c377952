//! The operator's side of the executor: what waits, and the answers.

use crate::approval::{ApprovalId, ApprovalStatus, ApprovalSummary, Operator};
use crate::audit::{ApprovalStep, Event, Receipt, SettingKey, SinkFault};
use crate::store::{Answer, Found, Moved, StoreFault};

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
    /// log does not hold. When the approval was answered or expired meanwhile, the log holds that as well, and the answer
    /// has no effect.
    ///
    /// # Errors
    /// [`AnswerFault`] says where the approval stands instead.
    pub async fn answer(&self, operator: &Operator, id: ApprovalId, answer: Answer) -> Result<Receipt, AnswerFault> {
        self.expire_due().await.map_err(|_| AnswerFault::Store)?;
        let standing = self.0.approvals.find(id).await.map_err(|_| AnswerFault::Store)?;
        match standing.map(|found| found.summary.status) {
            None => return Err(AnswerFault::Not(Moved::Unknown)),
            Some(ApprovalStatus::Pending) => {}
            Some(elsewhere) => return Err(AnswerFault::Not(Moved::Not(elsewhere))),
        }
        let step = match answer {
            Answer::Approve => ApprovalStep::Approved,
            Answer::Deny { .. } => ApprovalStep::Denied,
        };
        let event = Event::Approval { approval: id, step, operator: operator.name().clone() };
        let receipt = self.record(event).await.map_err(|SinkFault| AnswerFault::Audit)?;
        let now = self.0.environment.now();
        match self.0.approvals.answer(id, answer, operator.name(), now).await {
            Ok(Moved::Yes) => Ok(receipt),
            Ok(not) => Err(AnswerFault::Not(not)),
            Err(_) => Err(AnswerFault::Store),
        }
    }

    /// Expires everything that is due and records each. Called before every look at an approval; a host calls it now and
    /// then besides.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn expire_due(&self) -> Result<usize, StoreFault> {
        let due = self.0.approvals.expire_due(self.0.environment.now()).await?;
        for approval in &due {
            // An expiry stands whether or not it could be recorded: nothing runs because of it.
            let _ = self.record(Event::Expiry { approval: *approval }).await;
        }
        Ok(due.len())
    }

    /// Records that an operator changed a setting; the host changes it only when this succeeds.
    ///
    /// # Errors
    /// When the log cannot take it.
    pub async fn record_setting(&self, operator: &Operator, key: SettingKey) -> Result<Receipt, SinkFault> {
        self.record(Event::Configuration { key, operator: operator.name().clone() }).await
    }
}
