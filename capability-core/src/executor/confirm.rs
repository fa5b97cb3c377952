//! Stage four: a person's answer, when one is needed.

use std::sync::Arc;

use super::Executor;
use super::invocation::{Confirmed, Course, Invocation, Permitted, Stopped};
use super::outcome::Ended;
use crate::approval::{ApprovalId, ApprovalStatus, DigestInput, Filed, InvocationDigest, PendingApproval};
use crate::code::{Code, Stage};
use crate::policy::{Decision, Verdict};
use crate::store::Moved;

impl Invocation<Permitted> {
    pub(super) async fn into_confirmed(self) -> Result<Invocation<Confirmed>, Box<Stopped>> {
        let Self { mut course, state: Permitted(()) } = self;
        course.ticket.stage = Stage::Confirm;
        let (Some(decision), Some(_)) = (&course.judged, &course.prepared) else {
            // Policy denies what was not prepared; this is the fail-closed end of a path that does not exist.
            return Err(course.refuse(Code::MissingRuntimeBinding));
        };
        if course.resumed.is_some() || decision.verdict() != Verdict::Allow {
            let decision = decision.clone();
            let Some(digest) = digest(&course) else {
                return Err(course.refuse(Code::SchemaFault));
            };
            match course.resumed.take() {
                Some(filed) => course = consume(course, &filed, digest).await?,
                None => return Err(file(course, &decision, digest).await),
            }
        }
        Ok(Invocation { course, state: Confirmed(()) })
    }
}

fn digest(course: &Course) -> Option<InvocationDigest> {
    let held = course.registered()?;
    let input = DigestInput {
        capability: held.entry().name().as_str(),
        version: held.entry().version(),
        schema: &held.built().ok()?.digest,
        arguments: course.arguments.as_bytes(),
        target: course.target.as_ref().map(|(kind, text)| (*kind, text.as_str())),
        identity: course.ticket.session.identity(),
        provider: course.provider()?.provider_id,
        definition: None,
        preview: course.prepared.as_ref().and_then(|(prepared, _)| prepared.preview()),
    };
    Some(input.digest(&course.ticket.executor.key))
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
            course.ticket.waited();
            Ok(course)
        }
        Ok(Moved::Unknown) => Err(course.refuse(Code::ApprovalUnknown)),
        Ok(Moved::Mismatch) => Err(course.refuse(Code::ApprovalMismatch)),
        Ok(Moved::Not(ApprovalStatus::Expired)) => {
            // Its time ran out on the way here.
            let _ = Executor(Arc::clone(executor)).expire_due().await;
            Err(course.stop(Ended::Expired))
        }
        Ok(Moved::Not(ApprovalStatus::Denied)) => Err(course.stop(Ended::Denied { note: None })),
        Ok(Moved::Not(ApprovalStatus::Pending)) => Err(course.stop(waiting(&filed.approval))),
        Ok(Moved::Not(ApprovalStatus::Approved | ApprovalStatus::Consumed)) => {
            Err(course.refuse(Code::ApprovalConsumed))
        }
        Err(_) => Err(course.refuse(Code::StoreUnavailable)),
    }
}

pub(super) const fn waiting(approval: &PendingApproval) -> Ended {
    Ended::Pending { approval: approval.id, expires_at: approval.expires_at }
}

/// Files the invocation for a person.
async fn file(mut course: Box<Course>, decision: &Decision, digest: InvocationDigest) -> Box<Stopped> {
    let Some(entry) = course.entry() else {
        return course.refuse(Code::UnknownCapability);
    };
    let environment = &course.ticket.executor.environment;
    let mut id = [0; 16];
    environment.fill_random(&mut id);
    let created_at = environment.now();
    let approval = PendingApproval {
        id: ApprovalId(id),
        capability: entry.name().as_str().to_owned(),
        version: entry.version(),
        class: entry.class(),
        risk: entry.risk(),
        identity: course.ticket.session.identity().clone(),
        arguments: course.arguments.as_bytes().to_vec(),
        target: course.target.take(),
        preview: course.prepared.as_ref().and_then(|(prepared, _)| prepared.preview()).cloned(),
        claims: core::mem::take(&mut course.proposal.claims),
        because: decision.deciding().map(|said| said.code).collect(),
        created_at,
        expires_at: created_at.after(course.ticket.executor.limits.approval_lifetime),
    };
    let ended = waiting(&approval);
    course.ticket.approval = Some(approval.id);
    match course.ticket.executor.approvals.file(Filed { approval, digest }).await {
        Ok(true) => course.stop(ended),
        Ok(false) => {
            course.ticket.approval = None;
            course.refuse(Code::TooManyPending)
        }
        Err(_) => {
            course.ticket.approval = None;
            course.refuse(Code::StoreUnavailable)
        }
    }
}
