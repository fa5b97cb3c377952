//! Stage four: a person's answer, when one is needed.

use std::sync::Arc;

use super::Executor;
use super::invocation::{Confirmed, Course, Invocation, Permitted, Stopped};
use super::outcome::Ended;
use super::standing::Asking;
use crate::approval::{ApprovalStatus, Filed, InvocationDigest, PendingApproval};
use crate::audit::{Event, Record};
use crate::code::{Code, Stage};
use crate::policy::Verdict;
use crate::store::{Filing, Moved};

impl Invocation<Permitted> {
    pub(super) async fn into_confirmed(self) -> Result<Invocation<Confirmed>, Box<Stopped>> {
        let Self { mut course, state: Permitted(()) } = self;
        course.ticket.stage = Stage::Confirm;
        let (Some(decision), Some(_)) = (&course.judged, &course.prepared) else {
            // Policy denies what was not prepared; this is the fail-closed end of a path that does not exist.
            return Err(course.refuse(Code::MissingRuntimeBinding));
        };
        if course.resumed.is_some() || decision.verdict() != Verdict::Allow {
            course = answered(course).await?;
        }
        Ok(Invocation { course, state: Confirmed(()) })
    }
}

/// The answer it takes, used up; or the end, where it has to be waited for.
async fn answered(mut course: Box<Course>) -> Result<Box<Course>, Box<Stopped>> {
    if let Some(resumed) = course.resumed.take() {
        return match course.question().map(|question| question.digest()) {
            Some(digest) => consume(course, &resumed, digest).await,
            None => Err(course.refuse(Code::SchemaFault)),
        };
    }
    if let Some(asking) = course.question().and_then(|question| question.asking()) {
        let (given, by_grant) = by_grant(course, &asking).await?;
        if by_grant {
            return Ok(given);
        }
        course = given;
    }
    // Only for a person is it copied, named and given a time.
    match course.question().map(|question| question.filed(None)) {
        Some(filed) => Err(file(course, filed).await),
        None => Err(course.refuse(Code::SchemaFault)),
    }
}

/// Uses an approval up: approved, in time, and for exactly this.
async fn consume(
    mut course: Box<Course>,
    filed: &Filed,
    digest: InvocationDigest,
) -> Result<Box<Course>, Box<Stopped>> {
    let executor = &course.ticket.executor;
    let now = executor.environment.now();
    match executor.approvals.consume(filed.approval.id, digest, now).await {
        Ok(Moved::Yes) => {
            executor.changed();
            course.ticket.waited();
            course.answered = true;
            Ok(course)
        }
        Ok(Moved::Unknown) => Err(course.refuse(Code::ApprovalUnknown)),
        Ok(Moved::Mismatch) => Err(course.refuse(Code::ApprovalMismatch)),
        Ok(Moved::Not(ApprovalStatus::Expired)) => {
            // Its time ran out on the way here.
            let _ = Executor(Arc::clone(executor)).expire_due().await;
            Err(course.stop(Ended::Expired))
        }
        Ok(Moved::Not(ApprovalStatus::Denied)) => Err(course.stop(Ended::Denied { reason: None, note: None })),
        Ok(Moved::Not(ApprovalStatus::Pending)) => Err(course.stop(waiting(&filed.approval))),
        Ok(Moved::Not(ApprovalStatus::Approved | ApprovalStatus::Consumed | ApprovalStatus::Superseded)) => {
            Err(course.refuse(Code::ApprovalConsumed))
        }
        Err(_) => Err(course.refuse(Code::StoreUnavailable)),
    }
}

pub(super) const fn waiting(approval: &PendingApproval) -> Ended {
    Ended::Pending { approval: approval.id, expires_at: approval.expires_at }
}

/// Whether a standing answer answers it: one use is taken then, and that is on record. Nothing runs on what cannot be
/// counted or recorded.
async fn by_grant(mut course: Box<Course>, asking: &Asking) -> Result<(Box<Course>, bool), Box<Stopped>> {
    let executor = Arc::clone(&course.ticket.executor);
    match executor.spend(asking).await {
        Ok(None) => Ok((course, false)),
        Ok(Some((grant, left))) => {
            course.ticket.waited();
            let event = Event::GrantUse { asked: course.ticket.asked(), grant, left };
            let used = course.ticket.submit(Record { at: course.ticket.at(), event });
            if used.durable().await.is_err() {
                return Err(course.refuse(Code::AuditUnavailable));
            }
            course.ticket.waited();
            executor.changed();
            Ok((course, true))
        }
        Err(_) => Err(course.refuse(Code::StoreUnavailable)),
    }
}

/// Files the invocation for a person.
async fn file(mut course: Box<Course>, filed: Filed) -> Box<Stopped> {
    let ended = waiting(&filed.approval);
    course.ticket.approval = Some(filed.approval.id);
    let refused = match course.ticket.executor.approvals.file(filed).await {
        Ok(Filing::Filed) => return course.stop(ended),
        Ok(Filing::TooManyPending) => Code::TooManyPending,
        Ok(Filing::DenialLoop) => Code::DenialLoop,
        Err(_) => Code::StoreUnavailable,
    };
    course.ticket.approval = None;
    course.refuse(refused)
}
