//! `approvals`: what waits, and a person's answers.

use capability_core::approval::{ApprovalId, ApprovalSummary, Operator};
use capability_core::store::Answer;
use serde_json::{Value, json};

use super::{DOCTOR, Service};
use crate::protocol::{ApprovalDetail, Fault};

/// The longest note that a denial takes, in bytes.
const MAX_NOTE: usize = 1024;

impl Service {
    pub(super) async fn waiting(&self, operator: &Operator) -> Result<Vec<ApprovalSummary>, Fault> {
        self.host.executor().waiting(operator).await.map_err(|error| Fault::broken(error.to_string(), DOCTOR))
    }

    pub(super) async fn show(&self, operator: &Operator, id: ApprovalId) -> Result<ApprovalDetail, Fault> {
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
        let answered = match answer {
            Answer::Approve => "approved",
            Answer::Deny { .. } => "denied",
        };
        let receipt =
            self.host.executor().answer(operator, id, answer).await.map_err(|error| {
                Fault::refused(error.to_string(), "see what waits with `capability approvals list`")
            })?;
        Ok(json!({ "approval": id, "status": answered, "receipt": receipt }))
    }
}
