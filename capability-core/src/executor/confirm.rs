//! Stage four: a person's answer, when one is needed.

use std::sync::Arc;

use super::Executor;
use super::invocation::{Confirmed, Course, Invocation, Permitted, Stopped, Valid};
use super::outcome::Ended;
use crate::approval::{ApprovalId, ApprovalStatus, DigestInput, Filed, InvocationDigest, PendingApproval};
use crate::code::{Code, Stage};
use crate::policy::{Decision, Verdict};
use crate::registry::Registered;
use crate::store::Moved;

impl Invocation<Permitted> {
    pub(super) async fn into_confirmed(mut self) -> Result<Invocation<Confirmed>, Box<Stopped>> {
        self.course.ticket.stage = Stage::Confirm;
        let Permitted { valid, decision } = self.state;
        let mut course = self.course;
        let verdict = decision.verdict();
        if course.resumed.is_some() || verdict != Verdict::Allow {
            let digest = match course.entry(&valid.subject).map(|held| digest(&course, held, &valid)) {
                Some(Some(digest)) => digest,
                Some(None) | None => return Err(course.refuse(Code::SchemaFault)),
            };
            match course.resumed.take() {
                Some(filed) => course = consume(course, &filed, digest).await?,
                None => return Err(file(course, *valid, &decision, digest).await),
            }
        }
        let Valid { subject, prepared, .. } = *valid;
        let Ok((prepared, call)) = prepared else {
            // The denial in its place ended this at policy; this is the fail-closed end of a path that does not exist.
            return Err(course.refuse(Code::MissingRuntimeBinding));
        };
        Ok(Invocation { course, state: Confirmed { subject, prepared, call } })
    }
}

fn digest(course: &Course, held: &Registered, valid: &Valid) -> Option<InvocationDigest> {
    let built = held.built().ok()?;
    let input = DigestInput {
        capability: held.entry().name().as_str(),
        version: held.entry().version(),
        schema: &built.digest,
        arguments: valid.arguments.as_bytes(),
        target: valid.target.as_ref().map(|(kind, text)| (*kind, text.as_str())),
        identity: course.session.identity(),
        provider: valid.subject.decision.provider_id,
        definition: None,
        preview: valid.prepared.as_ref().ok().and_then(|(prepared, _)| prepared.preview()),
    };
    Some(input.digest(&course.executor.key))
}

/// Uses an approval up: approved, in time, and for exactly this.
async fn consume(
    mut course: Box<Course>,
    filed: &Filed,
    digest: InvocationDigest,
) -> Result<Box<Course>, Box<Stopped>> {
    let executor = &course.executor;
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
async fn file(mut course: Box<Course>, valid: Valid, decision: &Decision, digest: InvocationDigest) -> Box<Stopped> {
    let Some(entry) = course.entry(&valid.subject).map(Registered::entry) else {
        return course.refuse(Code::UnknownCapability);
    };
    let environment = &course.executor.environment;
    let mut id = [0; 16];
    environment.fill_random(&mut id);
    let created_at = environment.now();
    let approval = PendingApproval {
        id: ApprovalId(id),
        capability: entry.name().as_str().to_owned(),
        version: entry.version(),
        class: entry.class(),
        risk: entry.risk(),
        identity: course.session.identity().clone(),
        arguments: valid.arguments.as_bytes().to_vec(),
        target: valid.target,
        preview: valid.prepared.as_ref().ok().and_then(|(prepared, _)| prepared.preview()).cloned(),
        claims: valid.claims,
        because: decision.deciding().map(|said| said.code).collect(),
        created_at,
        expires_at: created_at.after(course.executor.limits.approval_lifetime),
    };
    let ended = waiting(&approval);
    course.ticket.approval = Some(approval.id);
    match course.executor.approvals.file(Filed { approval, digest }).await {
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
