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
    /// Needs a session of the subject and slot that proposed the original, and for the same others, as [`Executor::resume`] does: what it declares is what
    /// counts now. What the proposer claimed about its own call is not said of the changed one.
    ///
    /// # Errors
    /// [`AnswerFault`] when the original cannot be answered from the start. What comes in between is the outcome's to say,
    /// and nothing has changed then.
    pub async fn edit(
        &self,
        operator: &Operator,
        session: &Session,
        id: ApprovalId,
        arguments: impl Into<Vec<u8>>,
    ) -> Result<Edited, AnswerFault> {
        self.expire_due().await.map_err(|_| AnswerFault::Store)?;
        let original = self.pending(id, self.0.environment.now()).await?;
        let asked = &original.approval;
        let is_own = asked.identity.subject == session.identity().subject && asked.is_of(session);
        if !is_own {
            return Err(AnswerFault::Not(Moved::Unknown));
        }
        let name = original.approval.capability.clone();
        let proposal = Proposal::new(name, original.approval.version.get(), arguments.into());
        let permitted = match self.enter(session, proposal) {
            Err(stopped) => Err(stopped),
            Ok(course) => changed(course, &original).await,
        };
        let (course, changed) = match permitted {
            Ok(Invocation { course, state: Permitted(()) }) => {
                match course.question().map(|question| question.filed(Some(id))) {
                    Some(filed) => (course, filed),
                    None => {
                        let stopped = course.refuse(Code::SchemaFault);
                        return Ok(self.refused(operator, &original.approval, stopped).await);
                    }
                }
            }
            Err(stopped) => return Ok(self.refused(operator, &original.approval, stopped).await),
        };
        Ok(self.replaced(operator, &original.approval, course, changed).await)
    }

    /// The changed call is refused: so is the original, unless the refusal says nothing about the call.
    async fn refused(&self, operator: &Operator, original: &PendingApproval, stopped: Box<Stopped>) -> Edited {
        let about = match &stopped.0.ended {
            Some(Ended::Rejected(refusal)) if is_about_the_call(refusal.code) => Some(refusal.code),
            _ => None,
        };
        let outcome = stopped.audit().await;
        let superseded = match about {
            Some(code) => self.supersede(operator, original, Instead::Refused(code)).await.is_ok(),
            None => false,
        };
        Edited { outcome, superseded }
    }

    /// The changed call takes the original's place.
    async fn replaced(
        &self,
        operator: &Operator,
        original: &PendingApproval,
        mut course: Box<Course>,
        changed: Filed,
    ) -> Edited {
        course.ticket.stage = Stage::Confirm;
        let waits = super::confirm::waiting(&changed.approval);
        let approval = changed.approval.id;
        let stopped = match self.supersede(operator, original, Instead::Filed(Box::new(changed))).await {
            Ok(()) => {
                course.ticket.approval = Some(approval);
                course.stop(waits)
            }
            Err(AnswerFault::Not(_)) => course.refuse(Code::ApprovalAnswered),
            Err(AnswerFault::Store) => course.refuse(Code::StoreUnavailable),
            Err(AnswerFault::Audit) => course.refuse(Code::AuditUnavailable),
        };
        let outcome = stopped.audit().await;
        Edited { superseded: outcome.approval().is_some(), outcome }
    }

    /// Records the edit, and then makes it.
    async fn supersede(
        &self,
        operator: &Operator,
        original: &PendingApproval,
        instead: Instead,
    ) -> Result<(), AnswerFault> {
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
        Ok(())
    }
}

/// The changed call, up to and including policy, under the original's identity and reservation.
async fn changed(mut course: Box<Course>, original: &Filed) -> Result<Invocation<Permitted>, Box<Stopped>> {
    let mut identity = original.approval.identity.clone();
    identity.mode = identity.mode.max(course.ticket.session.identity().mode);
    course.ticket.session = course.ticket.session.under(identity);
    // What is resumed keeps the reservation that its first attempt made, and so does what comes in its place.
    course.resumed = Some(Box::new(original.clone()));
    course.proposal.claims = Claims::default();
    let invocation = Invocation { course, state: Proposed(()) };
    invocation.into_resolved()?.into_validated().await?.into_permitted().await
}

/// Where an approval stands for whoever waits for it: whether anything is still to come.
pub(super) const fn is_waiting(status: ApprovalStatus) -> bool {
    matches!(status, ApprovalStatus::Pending)
}
