//! What a person, or a standing answer, is asked.

use sha2::{Digest as _, Sha256};

use super::Inner;
use super::invocation::Course;
use super::standing::Asking;
use crate::approval::{
    ApprovalId, Carrier, DigestInput, Filed, GrantLimit, GrantScope, Grantable, Ground, InvocationDigest,
    PendingApproval, Served,
};
use crate::policy::{Decision, MaxGrant, Verdict};
use crate::registry::Registered;
use crate::session::Mode;

/// A call that needs an answer, with everything that an answer binds to.
pub(super) struct Question<'a> {
    course: &'a Course,
    held: &'a Registered,
    decision: &'a Decision,
    /// What the digests are taken of.
    input: DigestInput<'a>,
}

impl Course {
    /// The question that policy asks about this call. `None` for an entry without a schema, which gets no further than
    /// validate, and before policy has spoken.
    pub(super) fn question(&self) -> Option<Question<'_>> {
        let held = self.registered()?;
        let input = DigestInput {
            capability: held.entry().name().as_str(),
            version: held.entry().version(),
            schema: &held.built().ok()?.digest,
            arguments: self.arguments.as_bytes(),
            target: self.target.as_ref().map(|(kind, text)| (*kind, text.as_str())),
            identity: self.ticket.session.identity(),
            behind: self.ticket.session.principals().into(),
            served: Served::of(self.provider()?),
            preview: self.prepared.as_ref().and_then(|(prepared, _)| prepared.preview()),
        };
        Some(Question { course: self, held, decision: self.judged.as_ref()?, input })
    }
}

impl Question<'_> {
    /// What an approval of it must match.
    pub(super) fn digest(&self) -> InvocationDigest {
        self.input.digest(&self.course.ticket.executor.key)
    }

    /// As it is filed: under a new id, with a lifetime that begins now.
    pub(super) fn filed(&self, instead_of: Option<ApprovalId>) -> Filed {
        let Self { course, held, decision, input } = self;
        let (inner, entry) = (&course.ticket.executor, held.entry());
        let mut id = [0; 16];
        inner.environment.fill_random(&mut id);
        let created_at = inner.environment.now();
        let approval = PendingApproval {
            id: ApprovalId(id),
            capability: entry.name().as_str().to_owned(),
            version: entry.version(),
            class: course.class(entry),
            risk: entry.risk(),
            identity: course.ticket.session.identity().clone(),
            slot: course.ticket.session.slot().cloned(),
            behind: input.behind.to_vec(),
            arguments: course.arguments.as_bytes().to_vec(),
            target: course.target.clone(),
            preview: input.preview.cloned(),
            claims: course.proposal.claims.clone(),
            because: decision.deciding().map(|said| said.code).collect(),
            verdict: decision.verdict(),
            grant: self.grant_limit(),
            provider: course.provider().and_then(Carrier::of),
            instead_of,
            created_at,
            expires_at: created_at.after(inner.limits.approval_lifetime),
        };
        Filed {
            approval,
            digest: input.digest(&inner.key),
            repeated: input.repeated(&inner.key),
            ground: ground(inner, input, decision),
        }
    }

    /// Whether a standing answer may answer this at all: an `ask` that a rule or a default raised above an automatic
    /// floor, and nothing else.
    pub(super) fn grantable(&self) -> bool {
        self.decision.verdict() == Verdict::Ask
            && self.decision.deciding().all(|said| said.contributor.source().is_some())
            && self.decision.grant_limit() != Some(MaxGrant::Never)
            && Grantable::of(self.course.class(self.held.entry())).is_some()
            && self.course.ticket.session.identity().mode == Mode::Live
            && GrantScope::of(self.course.target.as_ref()).is_some()
            // A standing answer is to one thing.
            && self.input.preview.is_none_or(|preview| preview.acts_on.is_empty())
    }

    /// How far a standing answer to this may go: by the class, by what an operator turned on, and by the rules that match.
    fn grant_limit(&self) -> Option<GrantLimit> {
        if !self.grantable() {
            return None;
        }
        let entry = self.held.entry();
        let limit = self.course.ticket.executor.grant_limits.of(entry.name().as_str(), self.course.class(entry))?;
        match self.decision.grant_limit() {
            None => Some(limit),
            Some(MaxGrant::Never) => None,
            Some(MaxGrant::Within { duration, uses }) => {
                Some(limit.narrowed(GrantLimit {
                    longest: duration.unwrap_or(limit.longest),
                    uses: uses.unwrap_or(limit.uses),
                }))
            }
        }
    }

    /// As a standing answer may be looked for; `None` where there can be none.
    pub(super) fn asking(&self) -> Option<Asking> {
        let inner = &self.course.ticket.executor;
        if !inner.standing.any() || !self.grantable() {
            return None;
        }
        let entry = self.held.entry();
        Some(Asking {
            identity: self.course.ticket.session.shared_identity(),
            capability: (entry.name(), entry.version()),
            tool: self.course.decided.as_ref().and_then(|decided| decided.tag()),
            covered: [GrantScope::Target, GrantScope::Exact]
                .map(|scope| (scope, self.input.covered(&inner.key, scope))),
            ground: ground(inner, &self.input, self.decision),
        })
    }
}

/// What a question stands on: the definition, the policy, who asks for which reason, and every rule that matches. A rule
/// whose window ends, whatever it says, leaves another question behind.
fn ground(inner: &Inner, input: &DigestInput<'_>, decision: &Decision) -> Ground {
    let mut question = Sha256::new();
    for said in decision.deciding() {
        question.update([0, said.contributor as u8]);
        question.update(said.code.as_str());
        question.update([0]);
    }
    if let Some(rules) = decision.rules() {
        for considered in rules.considered().iter().filter(|considered| considered.fate.matches()) {
            if let Some((kind, rule)) = rules.policy().rule(considered.rule) {
                question.update([1]);
                question.update(kind.as_str());
                question.update([0]);
                question.update(rule.id.as_str());
                question.update([0]);
            }
        }
    }
    // By the policy that judged, which may be another one by now: a grant is held against the newer one at its next use.
    let policy = match decision.rules() {
        Some(rules) => *rules.policy().revision().as_bytes(),
        None => inner.policy_revision(),
    };
    Ground { definition: input.definition(), policy, question: question.finalize().into() }
}
