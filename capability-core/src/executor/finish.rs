//! Stage six: the record, always.

use super::invocation::{Course, Executed, Invocation, Stopped, refused_at};
use super::outcome::{Effect, Ended, Outcome};
use crate::audit::{Ending, Submission};
use crate::code::{Code, Stage};
use crate::handle::{HandleFamily, OwnResult};
use crate::store::{KeptResult, MAX_KEPT_RESULT};

impl Invocation<Executed> {
    pub(super) async fn into_outcome(self) -> Outcome {
        self.course.audit().await
    }
}

impl Stopped {
    /// Writes the record and gives the outcome.
    pub async fn audit(self) -> Outcome {
        self.0.audit().await
    }
}

impl Course {
    /// Writes the record and gives the outcome, in this order.
    pub(super) async fn audit(mut self: Box<Self>) -> Outcome {
        // Whoever comes here says how it ended; this is the fail-closed end of a path that does not exist.
        let ended = self.ended.take().unwrap_or(Ended::Cancelled);
        // Here every outcome comes by, and what is recorded of it, kept of it and told of it comes after.
        let ended = match self.ticket.executor.redaction.get() {
            Some(redaction) => ended.redacted(&redaction.redactor(), |result| self.still_fits(result)),
            None => ended,
        };
        let (code, result_bytes) = match &ended {
            Ended::Rejected(refusal) => (Some(refusal.code), None),
            Ended::Withheld { code } => (Some(*code), None),
            Ended::Executed { result } => (None, Some(result.len() as u64)),
            _ => (None, None),
        };
        if let Some(code) = code {
            self.ticket.stage = refused_at(code, self.ticket.stage);
        }
        let (stage, effect, entry) = (self.ticket.stage, self.ticket.effect, self.entry());
        let decided = self.decided.take();
        let asks = matches!(ended, Ended::Pending { .. });
        let provider_failed = self.provider_failed && matches!(ended, Ended::Executed { .. });
        let ending = Ending { outcome: ended.kind(), code, place: self.place.take(), result_bytes, provider_failed };
        let recorded = match self.ticket.finish(ending) {
            Submission::Done(answer) => answer,
            later @ Submission::Later(_) => later.durable().await,
        };
        match recorded {
            Ok(receipt) => {
                if asks {
                    self.ticket.executor.changed();
                }
                let outcome = Outcome { entry, ended, effect, stage, receipt: Some(receipt), decided, provider_failed };
                self.keep(&outcome);
                outcome
            }
            Err(_) => {
                // A question whose record is missing is not asked.
                if let (true, Some(approval)) = (asks, self.ticket.approval) {
                    let _ = self.ticket.executor.approvals.withdraw(approval).await;
                    self.ticket.executor.changed();
                }
                let ended = unrecorded(ended, effect);
                Outcome { entry, ended, effect, stage: Stage::Audit, receipt: None, decided, provider_failed: false }
            }
        }
    }
}

impl Course {
    /// A result that secrets were taken out of, if it still is what its schema promises and within its cap: whoever reads it goes
    /// by those.
    fn still_fits(&self, result: String) -> Option<String> {
        let most = self.entry()?.bounds().max_result();
        self.checked(result.into_bytes()).ok().map(|(result, _)| result).filter(|result| result.len() as u64 <= most)
    }

    /// Keeps a result for its session, where the host keeps any. What was recalled is not kept again.
    fn keep(&self, outcome: &Outcome) {
        let ticket = &self.ticket;
        let (Some(results), Some(result), Some(entry)) =
            (ticket.executor.results.get(), outcome.result(), outcome.entry)
        else {
            return;
        };
        let (Some(receipt), false) = (outcome.receipt, entry.holds(HandleFamily::OwnHistory)) else { return };
        if result.len() > MAX_KEPT_RESULT {
            return;
        }
        let identity = ticket.session.identity();
        results.keep(KeptResult {
            session: identity.id,
            subject: identity.subject.clone(),
            receipt,
            result: OwnResult {
                capability: entry.name().as_str().to_owned(),
                version: entry.version(),
                at: ticket.at(),
                trust: outcome.observation().trust,
                result: result.to_owned(),
            },
        });
    }
}

/// What is said when the log is down: a body that ran keeps its result to itself, and nothing waits for a person.
fn unrecorded(ended: Ended, effect: Effect) -> Ended {
    match (&ended, effect) {
        // A public failure is the body's own text, as much as a result.
        (Ended::Executed { .. } | Ended::Failed { .. }, _) => Ended::Withheld { code: Code::Unrecorded },
        (Ended::Pending { .. }, _) => Ended::Rejected(Code::AuditUnavailable.into()),
        _ => ended,
    }
}
