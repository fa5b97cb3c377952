//! A person puts a changed call in a pending one's place.

use super::grants::is_about_the_call;
use super::invocation::{Course, Invocation, Permitted, Proposed, Stopped};
use super::outcome::{Ended, Outcome};
use super::{AnswerFault, Executor, Proposal};
use crate::approval::{ApprovalId, ApprovalStatus, Claims, Filed, Operator, OperatorDeed, PendingApproval};
use crate::audit::{ApprovalStep, Event, SinkFault};
use crate::code::{Code, Stage};
use crate::session::Session;
use crate::store::{Instead, Moved};

/// What became of an edit.
#[derive(Debug, Clone)]
#[must_use = "an edit may have been refused"]
pub struct Edited {
    /// The changed call's own outcome: pending, and approved already, or refused.
    pub outcome: Outcome,
    /// Whether the original is superseded. It is not when this host could not look at the changed call.
    pub superseded: bool,
}

impl Edited {
    /// The changed call, which its subject can resume.
    #[must_use]
    pub const fn successor(&self) -> Option<ApprovalId> {
        self.outcome.approval()
    }
}

impl Executor {
    /// Puts a call with other arguments in the place of a pending one: a new invocation under the original's identity,
    /// through resolve, validate and policy from the start, and then filed and approved by this operator in one recorded
    /// act. The original is superseded by it, for good, and keeps its turn's reservation. A changed call that validation or
    /// policy refuses supersedes the original as well, and nothing comes in its place.
    ///
    /// Needs a session of the subject that proposed the original, as [`Executor::resume`] does: what it declares is what
    /// counts now. What the proposer claimed about its own call is not said of the changed one.
    ///
    /// # Errors
    /// [`AnswerFault`] when the original cannot be answered, or the answer could not be recorded; nothing has changed then.
    pub async fn edit(
        &self,
        operator: &Operator,
        session: &Session,
        id: ApprovalId,
        arguments: impl Into<Vec<u8>>,
    ) -> Result<Edited, AnswerFault> {
        self.expire_due().await.map_err(|_| AnswerFault::Store)?;
        let original = self.pending(id, self.0.environment.now()).await?;
        if original.approval.identity.subject != session.identity().subject {
            return Err(AnswerFault::Not(Moved::Unknown));
        }
        let name = original.approval.capability.clone();
        let proposal = Proposal::new(name, original.approval.version.get(), arguments.into());
        let permitted = match self.enter(session, proposal) {
            Err(stopped) => Err(stopped),
            Ok(course) => changed(course, &original).await,
        };
        let (stopped, instead) = match permitted {
            Ok(Invocation { course, state: Permitted { valid, decision } }) => {
                let filed = course.question(&valid, &decision).map(|question| question.filed(Some(id)));
                match filed {
                    Some(filed) => (course, Instead::Filed(Box::new(filed))),
                    None => {
                        return Ok(Edited {
                            outcome: course.refuse(Code::SchemaFault).audit().await,
                            superseded: false,
                        });
                    }
                }
            }
            Err(stopped) => return self.refused(operator, &original.approval, stopped).await,
        };
        self.replaced(operator, &original.approval, stopped, instead).await
    }

    /// The changed call is refused: so is the original, unless the refusal says nothing about the call.
    async fn refused(
        &self,
        operator: &Operator,
        original: &PendingApproval,
        stopped: Box<Stopped>,
    ) -> Result<Edited, AnswerFault> {
        let refused = match &stopped.ended {
            Ended::Rejected(refusal) if is_about_the_call(refusal.code) => refusal.code,
            _ => return Ok(Edited { outcome: stopped.audit().await, superseded: false }),
        };
        let outcome = stopped.audit().await;
        self.supersede(operator, original, Instead::Refused(refused)).await?;
        Ok(Edited { outcome, superseded: true })
    }

    async fn replaced(
        &self,
        operator: &Operator,
        original: &PendingApproval,
        mut course: Box<Course>,
        instead: Instead,
    ) -> Result<Edited, AnswerFault> {
        course.ticket.stage = Stage::Confirm;
        let waits = match &instead {
            Instead::Filed(filed) => super::confirm::waiting(&filed.approval),
            Instead::Refused(code) => Ended::Rejected((*code).into()),
        };
        match self.supersede(operator, original, instead).await {
            Ok(successor) => {
                course.ticket.approval = successor;
                // It is approved already: a record that cannot be written now takes nothing back, and nothing runs without
                // a record of its own.
                Ok(Edited { outcome: course.stop(waits).audit().await, superseded: true })
            }
            Err(fault) => {
                let _ = course.refuse(Code::ApprovalAnswered).audit().await;
                Err(fault)
            }
        }
    }

    /// Records the edit, and then makes it.
    async fn supersede(
        &self,
        operator: &Operator,
        original: &PendingApproval,
        instead: Instead,
    ) -> Result<Option<ApprovalId>, AnswerFault> {
        let inner = &self.0;
        let mut recorded = inner.desk.lock().await;
        let now = inner.environment.now();
        self.expire(&mut recorded, now).await.map_err(|_| AnswerFault::Store)?;
        // Somebody may have answered while the changed call was looked at.
        drop(self.pending(original.id, now).await?);
        let (successor, code) = match &instead {
            Instead::Filed(filed) => (Some(filed.approval.id), None),
            Instead::Refused(code) => (None, Some(*code)),
        };
        let event = Event::Approval {
            approval: original.id,
            step: ApprovalStep::Edited,
            operator: operator.name().clone(),
            reason: None,
            successor,
            code,
        };
        self.record(event).await.map_err(|SinkFault| AnswerFault::Audit)?;
        match inner.approvals.supersede(original.id, instead, operator.name(), now).await {
            Ok(Moved::Yes) => {}
            Ok(not) => return Err(AnswerFault::Not(not)),
            Err(_) => return Err(AnswerFault::Store),
        }
        self.tell(original, OperatorDeed::Edited, now).await;
        inner.changed();
        Ok(successor)
    }
}

/// The changed call, up to and including policy, under the original's identity and reservation.
async fn changed(mut course: Box<Course>, original: &Filed) -> Result<Invocation<Permitted>, Box<Stopped>> {
    let mut identity = original.approval.identity.clone();
    identity.mode = identity.mode.max(course.session.identity().mode);
    course.session = course.session.under(identity);
    course.ticket.under(course.session.shared_identity());
    // What is resumed keeps the reservation that its first attempt made, and so does what comes in its place.
    course.resumed = Some(original.clone());
    course.proposal.claims = Claims::default();
    let invocation = Invocation { course, state: Proposed(()) };
    invocation.into_resolved()?.into_validated().await?.into_permitted().await
}

/// Where an approval stands for whoever waits for it: whether anything is still to come.
pub(super) const fn is_waiting(status: ApprovalStatus) -> bool {
    matches!(status, ApprovalStatus::Pending)
}
