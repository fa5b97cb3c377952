//! The typestates: what has been established about one invocation.
//!
//! `Proposed -> Resolved -> Validated -> Permitted -> Confirmed -> Executed`. Nobody outside can make one, each step
//! consumes it, and a step that is tried too early does not compile.

use std::sync::Arc;

use super::{Inner, Prepared, Proposal};
use crate::approval::Filed;
use crate::arguments::Arguments;
use crate::audit::{AuditTicket, SchemaPlace};
use crate::call::Call;
use crate::code::{Code, Stage};
use crate::contract::{Capability, TargetKind};
use crate::handle::{Lease, LeaseHolder};
use crate::policy::Decision;
use crate::provider::ProviderDecision;
use crate::registry::Registered;
use crate::session::Session;

use super::outcome::{Effect, Ended, Refusal};

/// One invocation in one state.
///
/// ```
/// use capability_core::executor::{Confirmed, Invocation, Permitted, Stopped};
///
/// async fn next(invocation: Invocation<Permitted>) -> Result<Invocation<Confirmed>, Box<Stopped>> {
///     invocation.confirm().await
/// }
/// ```
///
/// No stage can be left out:
///
/// ```compile_fail,E0277
/// use capability_core::executor::{Executed, Invocation, Permitted, Stopped};
///
/// async fn skip(invocation: Invocation<Permitted>) -> Result<Invocation<Executed>, Box<Stopped>> {
///     invocation.execute().await
/// }
/// ```
///
/// And none can be repeated: the step consumed what it needs.
///
/// ```compile_fail,E0382
/// use capability_core::executor::{Confirmed, Invocation, Permitted, Stopped};
///
/// async fn twice(invocation: Invocation<Permitted>) -> Result<Invocation<Confirmed>, Box<Stopped>> {
///     let first = invocation.confirm().await;
///     drop(first);
///     invocation.confirm().await
/// }
/// ```
#[must_use = "an invocation that is dropped is recorded as cancelled"]
pub struct Invocation<S> {
    pub(super) course: Box<Course>,
    pub(super) state: S,
}

/// What every state shares.
pub(super) struct Course {
    pub(super) executor: Arc<Inner>,
    pub(super) session: Session,
    pub(super) ticket: AuditTicket,
    /// What is asked for. It stays here, where states are handed on without it, and validate takes its parts.
    pub(super) proposal: Proposal,
    /// The approval that is being resumed.
    pub(super) resumed: Option<Filed>,
    /// What the author's code was lent, for as long as this course answers for it.
    pub(super) held: Option<LeaseHolder>,
}

/// Nothing is established.
pub struct Proposed(pub(super) ());

/// It names a registered capability, and a provider decision says who would run it.
pub struct Resolved {
    pub(super) subject: Settled,
}

/// The registered capability and the decision about it.
pub(super) struct Settled {
    /// The registry and this entry's place in it: entries live as long as the executor.
    pub(super) at: usize,
    pub(super) decision: Arc<ProviderDecision>,
}

/// Its arguments follow the schema, parse, and make sense to the author.
pub struct Validated {
    pub(super) valid: Box<Valid>,
}

/// What validation established. Boxed: it travels through three more stages.
pub(super) struct Valid {
    pub(super) subject: Settled,
    pub(super) arguments: Arguments,
    pub(super) claims: crate::approval::Claims,
    pub(super) target: Option<(TargetKind, String)>,
    pub(super) scope: Option<String>,
    /// What policy said before the author's part ran; none when that part was waited for.
    pub(super) judged: Option<Decision>,
    /// What policy denies is not prepared, and that denial stands.
    pub(super) prepared: Result<(Prepared, Call), Decision>,
}

/// Policy has spoken, and the turn has room.
pub struct Permitted {
    pub(super) valid: Box<Valid>,
    pub(super) decision: Decision,
}

/// Whatever answer it takes is there, and is used up.
pub struct Confirmed {
    pub(super) subject: Settled,
    pub(super) prepared: Prepared,
    pub(super) call: Call,
}

/// The body ended, one way or another; only the record is missing.
pub struct Executed {
    pub(super) ended: Ended,
    pub(super) effect: Effect,
    pub(super) place: Option<SchemaPlace>,
}

/// An invocation that goes no further: only the record is missing.
pub struct Stopped {
    pub(super) course: Box<Course>,
    pub(super) ended: Ended,
    pub(super) effect: Effect,
    pub(super) place: Option<SchemaPlace>,
}

impl Course {
    pub(super) fn entry(&self, subject: &Settled) -> Option<&Registered> {
        self.executor.registry.at(subject.at)
    }

    /// What the author's code is lent, until this course ends or says otherwise.
    pub(super) fn call(&mut self, entry: &'static Capability, target: Option<&(TargetKind, String)>) -> Call {
        let lease = Lease {
            entry,
            invocation: self.ticket.invocation(),
            identity: self.session.shared_identity(),
            target: target.cloned(),
            ending: Arc::default(),
        };
        self.held = Some(LeaseHolder::of(&lease));
        let deadline = self.ticket.begun() + super::PREPARE_TIMEOUT;
        Call::new(lease, Arc::clone(&self.executor.broker), deadline, entry.bounds().max_result())
    }

    /// Ends here, before the body began.
    pub(super) fn stop(mut self: Box<Self>, ended: Ended) -> Box<Stopped> {
        if let Ended::Rejected(refusal) = &ended {
            self.ticket.stage = refused_at(refusal.code, self.ticket.stage);
        }
        Box::new(Stopped { course: self, ended, effect: Effect::NotStarted, place: None })
    }

    /// Ends here with a refusal.
    pub(super) fn refuse(self: Box<Self>, refusal: impl Into<Refusal>) -> Box<Stopped> {
        self.stop(Ended::Rejected(refusal.into()))
    }
}

/// The stage that gave a refusal. A runner may have no room at either of the two stages that need it: the stage is the one
/// that was reached, and a call that never came to be executed is not recorded as if it had.
pub(super) const fn refused_at(code: Code, reached: Stage) -> Stage {
    if matches!(code, Code::RunnerSaturated) { reached } else { code.stage() }
}
