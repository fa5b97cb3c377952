//! `approvals`: what waits, and a person's answers.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use capability_core::Timestamp;
use capability_core::approval::{ApprovalId, ApprovalSummary, Operator};
use capability_core::audit::Receipt;
use capability_core::executor::AnswerFault;
use capability_core::session::Subject;
use capability_core::store::Answer;
use serde_json::{Value, json};

use super::{DOCTOR, Service};
use crate::protocol::{ApprovalDetail, Fault};

/// The longest note that a denial takes, in bytes.
pub const MAX_NOTE: usize = 1024;

/// How many answers are remembered for whoever comes second.
const REMEMBERED: usize = 1024;

/// Who answered what, and when.
#[derive(Debug, Clone)]
pub struct AnsweredBy {
    /// The operator, and the way.
    pub operator: Subject,
    /// `approved` or `denied`.
    pub answer: &'static str,
    /// When.
    pub at: Timestamp,
}

/// The newest answers. They are on record in the audit log; here they are at hand.
#[derive(Default)]
pub struct Answered(Mutex<VecDeque<(ApprovalId, AnsweredBy)>>);

impl Answered {
    fn remember(&self, id: ApprovalId, by: AnsweredBy) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= REMEMBERED {
            answers.pop_front();
        }
        answers.push_back((id, by));
    }

    /// Who answered this one since the host started.
    pub fn of(&self, id: ApprovalId) -> Option<AnsweredBy> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().rev().find(|(other, _)| *other == id).map(|(_, by)| by.clone())
    }
}

impl Service {
    pub(crate) async fn waiting(&self, operator: &Operator) -> Result<Vec<ApprovalSummary>, Fault> {
        self.host.executor().waiting(operator).await.map_err(|error| Fault::broken(error.to_string(), DOCTOR))
    }

    pub(crate) async fn show(&self, operator: &Operator, id: ApprovalId) -> Result<ApprovalDetail, Fault> {
        let found = self.host.executor().approval(operator, id).await;
        match found.map_err(|error| Fault::broken(error.to_string(), DOCTOR))? {
            Some(found) => {
                Ok(ApprovalDetail { summary: found.summary, content: found.filed.map(|filed| filed.approval) })
            }
            None => Err(Fault::refused("no approval has that id", "see what waits with `capability approvals list`")),
        }
    }

    pub(super) async fn approve(&self, operator: &Operator, id: ApprovalId) -> Result<Value, Fault> {
        self.answer(operator, id, Answer::Approve).await
    }

    pub(super) async fn deny(
        &self,
        operator: &Operator,
        id: ApprovalId,
        note: &Option<String>,
    ) -> Result<Value, Fault> {
        if note.as_ref().is_some_and(|note| note.len() > MAX_NOTE) {
            return Err(Fault::usage("that note is too long", "write at most 1 KiB"));
        }
        self.answer(operator, id, Answer::Deny { note: note.clone() }).await
    }

    async fn answer(&self, operator: &Operator, id: ApprovalId, answer: Answer) -> Result<Value, Fault> {
        let status = word(&answer);
        let receipt = self
            .answered(operator, id, answer)
            .await
            .map_err(|error| Fault::refused(error.to_string(), "see what waits with `capability approvals list`"))?;
        Ok(json!({ "approval": id, "status": status, "receipt": receipt }))
    }

    /// An operator's answer, whichever way it came.
    pub(crate) async fn answered(
        &self,
        operator: &Operator,
        id: ApprovalId,
        answer: Answer,
    ) -> Result<Receipt, AnswerFault> {
        let answered = word(&answer);
        let receipt = self.host.executor().answer(operator, id, answer).await?;
        let (operator, at) = (operator.name().clone(), self.host.environment().now());
        self.answered.remember(id, AnsweredBy { operator, answer: answered, at });
        Ok(receipt)
    }

    /// Who answered it, for whoever comes second.
    pub(crate) fn answered_by(&self, id: ApprovalId) -> Option<AnsweredBy> {
        self.answered.of(id)
    }
}

const fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approve => "approved",
        Answer::Deny { .. } => "denied",
    }
}
