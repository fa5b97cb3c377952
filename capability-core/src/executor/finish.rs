//! Stage six: the record, always.

use super::invocation::{Executed, Invocation, Stopped, refused_at};
use super::outcome::{Effect, Ended, Outcome};
use crate::audit::Ending;
use crate::code::Stage;

impl Invocation<Executed> {
    pub(super) async fn into_outcome(self) -> Outcome {
        let Executed { ended, effect, place } = self.state;
        Stopped { course: self.course, ended, effect, place }.audit().await
    }
}

impl Stopped {
    /// Writes the record and gives the outcome.
    pub async fn audit(self) -> Outcome {
        let Self { course, ended, effect, place } = self;
        let (code, result_bytes) = match &ended {
            Ended::Rejected(refusal) => (Some(refusal.code), None),
            Ended::Executed { result } => (None, Some(result.len() as u64)),
            _ => (None, None),
        };
        let mut ticket = course.ticket;
        if let Some(code) = code {
            ticket.stage = refused_at(code, ticket.stage);
        }
        let stage = ticket.stage;
        let (executor, approval) = (course.executor.as_ref(), ticket.approval);
        let asks = matches!(ended, Ended::Pending { .. });
        let ending = Ending { outcome: ended.kind(), code, place, effect, result_bytes };
        match ticket.finish(ending).durable().await {
            Ok(receipt) => {
                if asks {
                    executor.changed();
                }
                Outcome { ended, effect, stage, receipt: Some(receipt) }
            }
            Err(_) => {
                // A question whose record is missing is not asked.
                if let (true, Some(approval)) = (asks, approval) {
                    let _ = executor.approvals.withdraw(approval).await;
                    executor.changed();
                }
                Outcome { ended: unrecorded(ended, effect), effect, stage: Stage::Audit, receipt: None }
            }
        }
    }
}

/// What is said when the log is down: a body that ran keeps its result to itself, and nothing waits for a person.
fn unrecorded(ended: Ended, effect: Effect) -> Ended {
    match (&ended, effect) {
        // A public failure is the body's own text, as much as a result.
        (Ended::Executed { .. } | Ended::Failed { .. }, _) => Ended::Withheld,
        (Ended::Pending { .. }, _) => Ended::Rejected(crate::code::Code::AuditUnavailable.into()),
        _ => ended,
    }
}
