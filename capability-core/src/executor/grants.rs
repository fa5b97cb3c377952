//! The operator's side of standing answers.

use core::num::NonZeroU32;

use std::sync::Arc;

use tokio::time::Instant;

use super::standing::{Given, ended_event};
use super::{AnswerFault, Executor};
use crate::approval::{
    ApprovalId, ApprovalStatus, DigestInput, Filed, Grant, GrantEnd, GrantId, GrantLimit, GrantScope, Grantable,
    Operator, OperatorAct, OperatorDeed, PastCall, PendingApproval, Served,
};
use crate::audit::{ApprovalStep, Event, GrantStep, Granted, Receipt, SinkFault};
use crate::code::Code;
use crate::policy::Verdict;
use crate::provider::ProviderDecision;
use crate::registry::Registered;
use crate::session::Mode;
use crate::store::{Answer, Moved, StoreFault};

/// Why a standing answer was not given. Nothing was approved either, but for [`GrantFault::Half`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantFault {
    /// The question itself could not be answered.
    Answer(AnswerFault),
    /// The capability's class needs a person each time.
    Floor,
    /// No operator turned grants on for this capability, or a rule of the policy allows none.
    Off,
    /// This very question needs a fresh answer.
    Fresh,
    /// What it would cover is a program that runs whatever it is told.
    Unselectable,
    /// It was asked in a stricter mode than the ordinary one.
    Mode,
    /// It would last longer, or be used more often, than it may.
    TooWide(GrantLimit),
    /// It would last no time at all.
    TooShort,
    /// The policy or the capability is another one than when it was asked.
    Changed,
    /// The call was approved, once; the standing answer could not be stored.
    Half,
}

impl GrantFault {
    /// What to do about it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Answer(_) => "see what waits with `capability approvals list`",
            Self::Floor | Self::Fresh | Self::Unselectable | Self::Mode => "approve it once",
            Self::Off => "approve it once, or turn grants on with `[grants.\"NAME\"]` in `config.toml`",
            Self::TooWide(_) => "ask for less",
            Self::TooShort => "ask for a second or more",
            Self::Changed => "have the call proposed again",
            Self::Half => "look at the host with `capability doctor`",
        }
    }
}

impl core::fmt::Display for GrantFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Answer(fault) => fault.fmt(f),
            Self::Floor => f.write_str("its class needs a fresh answer each time: nothing stands in for it"),
            Self::Off => f.write_str("grants are off for this capability"),
            Self::Fresh => f.write_str("this question needs a fresh answer each time: nothing stands in for it"),
            Self::Unselectable => f.write_str(
                "the program runs whatever its arguments say: a standing yes to it would be one to anything",
            ),
            Self::Mode => f.write_str("it was asked in a stricter mode, in which there are no grants"),
            Self::TooWide(limit) => write!(
                f,
                "that goes too far: for this call a grant lasts {} seconds at most, and {} uses",
                limit.longest.as_secs(),
                limit.uses
            ),
            Self::TooShort => f.write_str("that lasts no time at all"),
            Self::Changed => f.write_str("the policy or the capability has changed since it was asked"),
            Self::Half => f.write_str("the call is approved, once; the grant could not be stored, so there is none"),
        }
    }
}

impl core::error::Error for GrantFault {}

impl From<AnswerFault> for GrantFault {
    fn from(fault: AnswerFault) -> Self {
        Self::Answer(fault)
    }
}

/// What a grant would cover, for whoever is about to give it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GrantPreview {
    /// How far it may go.
    pub limit: GrantLimit,
    /// What it would cover.
    pub scope: GrantScope,
    /// Retained calls that it would have answered, the newest first.
    pub covered: Vec<PastCall>,
    /// Retained calls of the same capability that it would not have answered, the newest first.
    pub not_covered: Vec<PastCall>,
}

/// How many retained calls a preview looks at.
const LOOKED_AT: u32 = 50;

impl Executor {
    /// Approves a pending call, and gives a standing answer for its like: the same subject, in the same session, under the
    /// policy in force, for what [`GrantScope`] says of it. Both are one act: recorded together, before either counts.
    ///
    /// # Errors
    /// [`GrantFault`] says why there can be none.
    pub async fn grant(&self, operator: &Operator, id: ApprovalId, asked: GrantLimit) -> Result<Grant, GrantFault> {
        let inner = &self.0;
        let mut recorded = inner.desk.lock().await;
        let now = inner.environment.now();
        self.expire(&mut recorded, now).await.map_err(|_| AnswerFault::Store)?;
        let filed = self.pending(id, now).await?;
        let approval = &filed.approval;
        let (held, limit, scope) = self.grantable(&filed)?;
        if asked.longest.is_zero() {
            return Err(GrantFault::TooShort);
        }
        if !limit.covers(asked) {
            return Err(GrantFault::TooWide(limit));
        }
        let decided = self.decided_again(held, approval)?;
        let input = stored_input(held, approval, decided.as_deref()).ok_or(GrantFault::Changed)?;
        if input.definition() != filed.ground.definition || inner.policy_revision() != filed.ground.policy {
            return Err(GrantFault::Changed);
        }
        let mut bytes = [0; 16];
        inner.environment.fill_random(&mut bytes);
        let terms = Granted {
            capability: held.entry().name(),
            version: approval.version,
            subject: approval.identity.subject.clone(),
            session: approval.identity.id,
            approval: id,
            seconds: asked.longest.as_secs(),
            uses: asked.uses,
        };
        let given = Given {
            id: GrantId(bytes),
            terms,
            tool: decided.as_ref().and_then(|decided| decided.tag()),
            covers: (scope, input.covered(&inner.key, scope)),
            ground: filed.ground,
            expires_at: now.after(asked.longest),
            until: Instant::now() + asked.longest,
        };
        let grant = row(&given, approval, operator, asked.uses, now);
        let answered = Event::Approval {
            approval: id,
            step: ApprovalStep::Approved,
            operator: operator.name().clone(),
            reason: None,
            successor: None,
            code: None,
        };
        let given_event = Event::Grant {
            grant: given.id,
            step: GrantStep::Given,
            granted: given.terms.clone(),
            operator: Some(operator.name().clone()),
            why: None,
        };
        // The log keeps the order: what makes the second durable has made the first.
        let first = inner.submit(answered);
        let second = inner.submit(given_event);
        if first.is_refused() || second.durable().await.is_err() {
            return Err(AnswerFault::Audit.into());
        }
        match inner.approvals.answer(id, Answer::Approve, operator.name(), now).await {
            Ok(Moved::Yes) => {}
            moved => {
                self.withdrawn(&given).await;
                return Err(moved.map_or(AnswerFault::Store, AnswerFault::Not).into());
            }
        }
        self.tell(approval, OperatorDeed::Approved, now).await;
        if inner.grants.create(grant.clone()).await.is_err() {
            self.withdrawn(&given).await;
            inner.changed();
            return Err(GrantFault::Half);
        }
        inner.standing.give(given);
        self.tell(approval, OperatorDeed::Granted, now).await;
        inner.changed();
        Ok(grant)
    }

    /// Every grant that lives, and for a day what has ended, the newest first. One that a former start of this host gave
    /// is shown as ended: it answers nothing.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn grants(&self, _: &Operator) -> Result<Vec<Grant>, StoreFault> {
        self.expire_due().await?;
        let mut all = self.0.grants.all().await?;
        for grant in all.iter_mut().filter(|grant| grant.ended.is_none()) {
            grant.ended = self.0.standing.why_not(grant.id);
            if grant.ended.is_some() {
                grant.target = None;
            }
        }
        Ok(all)
    }

    /// Takes a standing answer back, or all of them, and says how many those were. They answer nothing from this moment
    /// on, whatever becomes of the record: taking back is never refused.
    ///
    /// # Errors
    /// [`AnswerFault::Audit`] when that could not be recorded, [`AnswerFault::Store`] when it could not be stored; it has
    /// taken effect all the same. [`AnswerFault::Not`] when there is no such grant that lives.
    pub async fn revoke(&self, operator: &Operator, id: Option<GrantId>) -> Result<usize, AnswerFault> {
        let inner = &self.0;
        let taken = inner.standing.take_back(id, operator.name());
        if taken.is_empty() && id.is_some() {
            return Err(AnswerFault::Not(Moved::Unknown));
        }
        let _recorded = inner.desk.lock().await;
        inner.settle().await;
        for given in &taken {
            let act = OperatorAct {
                subject: given.terms.subject.clone(),
                at: inner.environment.now(),
                deed: OperatorDeed::Revoked,
                capability: given.terms.capability.as_str().to_owned(),
                version: given.terms.version,
                reason: None,
                note: None,
            };
            // A history that does not answer has said so itself.
            let _ = inner.history.tell(act).await;
        }
        inner.changed();
        match inner.standing.unsettled(&taken) {
            None => Ok(taken.len()),
            Some(true) => Err(AnswerFault::Store),
            Some(false) => Err(AnswerFault::Audit),
        }
    }

    /// What a grant for this pending call would cover, and which retained calls it would have answered; none where there
    /// can be no grant.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn grant_preview(&self, _: &Operator, id: ApprovalId) -> Result<Option<GrantPreview>, StoreFault> {
        let now = self.0.environment.now();
        let filed = match self.pending(id, now).await {
            Ok(filed) => filed,
            Err(AnswerFault::Store) => return Err(StoreFault),
            Err(AnswerFault::Not(_) | AnswerFault::Audit) => return Ok(None),
        };
        let Ok((held, limit, scope)) = self.grantable(&filed) else { return Ok(None) };
        let decided = self.decided_again(held, &filed.approval).ok().flatten();
        let decided = decided.as_deref();
        let approval = &filed.approval;
        let Some(own) = stored_input(held, approval, decided).map(|input| input.covered(&self.0.key, scope)) else {
            return Ok(None);
        };
        let past = self.0.approvals.past_calls(&approval.capability, LOOKED_AT).await?;
        let (covered, not_covered) = past.into_iter().partition(|past| {
            let as_asked =
                PendingApproval { arguments: past.arguments.clone(), target: past.target.clone(), ..approval.clone() };
            past.subject == approval.identity.subject
                && past.version == approval.version
                && stored_input(held, &as_asked, decided).is_some_and(|input| input.covered(&self.0.key, scope) == own)
        });
        Ok(Some(GrantPreview { limit, scope, covered, not_covered }))
    }

    /// Whether there can be a grant for this question, and how far it may go. Judged by the entry, not by what is stored.
    fn grantable(&self, filed: &Filed) -> Result<(&Registered, GrantLimit, GrantScope), GrantFault> {
        let approval = &filed.approval;
        let held = self.0.registry.resolve(&approval.capability, approval.version.get()).ok_or(GrantFault::Changed)?;
        let class = self.decided_again(held, approval)?.map_or(held.entry().class(), |decided| decided.class);
        if Grantable::of(class).is_none() {
            return Err(GrantFault::Floor);
        }
        if approval.verdict != Verdict::Ask {
            return Err(GrantFault::Fresh);
        }
        if approval.identity.mode != Mode::Live {
            return Err(GrantFault::Mode);
        }
        let scope = GrantScope::of(approval.target.as_ref()).ok_or(GrantFault::Unselectable)?;
        let limit = self.0.grant_limits.of(&approval.capability, class).ok_or(GrantFault::Off)?;
        let of_the_question = approval.grant.ok_or(GrantFault::Off)?;
        Ok((held, limit.narrowed(of_the_question), scope))
    }

    /// The decision about a stored call, as it is made now.
    fn decided_again(
        &self,
        held: &Registered,
        approval: &PendingApproval,
    ) -> Result<Option<Arc<ProviderDecision>>, GrantFault> {
        self.0.decided(held, &approval.arguments, &approval.identity).map_err(|_| GrantFault::Changed)
    }

    /// A pending approval with its content.
    pub(super) async fn pending(&self, id: ApprovalId, now: crate::Timestamp) -> Result<Filed, AnswerFault> {
        let found = self.0.approvals.find(id).await.map_err(|_| AnswerFault::Store)?;
        let found = found.ok_or(AnswerFault::Not(Moved::Unknown))?;
        match (found.summary.status, found.filed) {
            (ApprovalStatus::Pending, _) if now >= found.summary.expires_at => {
                Err(AnswerFault::Not(Moved::Not(ApprovalStatus::Expired)))
            }
            (ApprovalStatus::Pending, Some(filed)) => Ok(filed),
            (ApprovalStatus::Pending, None) => Err(AnswerFault::Store),
            (elsewhere, _) => Err(AnswerFault::Not(Moved::Not(elsewhere))),
        }
    }

    /// On record as given, and not given after all.
    async fn withdrawn(&self, given: &Given) {
        let recorded: Result<Receipt, SinkFault> = self.record(ended_event(given, GrantEnd::Withdrawn, None)).await;
        // A log that takes no more has said so to everybody.
        let _ = recorded;
    }

    /// Tells the subject of a call what became of it.
    pub(super) async fn tell(&self, approval: &PendingApproval, deed: OperatorDeed, at: crate::Timestamp) {
        self.tell_why(approval, deed, at, None, None).await;
    }

    /// The same, with a denial's reason and note.
    pub(super) async fn tell_why(
        &self,
        approval: &PendingApproval,
        deed: OperatorDeed,
        at: crate::Timestamp,
        reason: Option<crate::approval::DenialReason>,
        note: Option<String>,
    ) {
        let act = OperatorAct {
            subject: approval.identity.subject.clone(),
            at,
            deed,
            capability: approval.capability.clone(),
            version: approval.version,
            reason,
            note,
        };
        // What was decided stands, told or not; a history that does not answer has said so itself.
        let _ = self.0.history.tell(act).await;
    }
}

/// What the digests of a stored call are taken of.
fn stored_input<'a>(
    held: &'a Registered,
    approval: &'a PendingApproval,
    decided: Option<&'a ProviderDecision>,
) -> Option<DigestInput<'a>> {
    Some(DigestInput {
        capability: held.entry().name().as_str(),
        version: held.entry().version(),
        schema: &held.built().ok()?.digest,
        arguments: &approval.arguments,
        target: approval.target.as_ref().map(|(kind, text)| (*kind, text.as_str())),
        identity: &approval.identity,
        behind: approval.behind.as_slice().into(),
        served: Served::of(decided.unwrap_or_else(|| held.served())),
        preview: approval.preview.as_ref(),
    })
}

fn row(
    given: &Given,
    approval: &PendingApproval,
    operator: &Operator,
    max_uses: NonZeroU32,
    now: crate::Timestamp,
) -> Grant {
    Grant {
        id: given.id,
        subject: given.terms.subject.clone(),
        session: given.terms.session,
        capability: approval.capability.clone(),
        version: approval.version,
        scope: given.covers.0,
        target: approval.target.clone(),
        granted_by: operator.name().clone(),
        approval: approval.id,
        created_at: now,
        expires_at: given.expires_at,
        max_uses,
        used: 0,
        last_used_at: None,
        ended: None,
    }
}

/// Which refusals of an edit say something about the call, and which only that this host could not look at it: the latter
/// leave the original as it was.
pub(super) const fn is_about_the_call(code: Code) -> bool {
    !matches!(
        code,
        Code::StoreUnavailable
            | Code::AuditUnavailable
            | Code::RunnerSaturated
            | Code::IsolationUnavailable
            | Code::PrepareTimedOut
            | Code::PreparePanicked
            | Code::SessionEnded
            | Code::ApprovalAnswered
    )
}
