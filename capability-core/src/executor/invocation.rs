//! The typestates: what has been established about one invocation.
//!
//! `Proposed -> Resolved -> Validated -> Permitted -> Confirmed -> Executed`. Nobody outside can make one, each step
//! consumes it, and a step that is tried too early does not compile.

use std::sync::Arc;

use super::outcome::{Effect, Ended, Refusal};
use super::{Prepared, Proposal};
use crate::approval::Filed;
use crate::arguments::Arguments;
use crate::audit::{AuditTicket, SchemaPlace};
use crate::call::Call;
use crate::code::{Code, Stage};
use crate::contract::schema::ARGUMENTS;
use crate::contract::{Capability, TargetKind};
use crate::handle::{Foreign, HandleFamily, Lease, LeaseHolder, Terms};
use crate::policy::{Decision, PathRules};
use crate::provider::ProviderDecision;
use crate::registry::Registered;
use crate::session::Ending;
use crate::time::Timestamp;

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

/// Everything that an invocation learns, in one block that is filled where it lies: a step hands on the pointer to it. The
/// state says what stands in it. A part that is missing against the state's word is a refusal, never a panic.
pub(super) struct Course {
    pub(super) ticket: AuditTicket,
    /// What is asked for. Validate takes its arguments.
    pub(super) proposal: Proposal,
    /// The approval that is being resumed; confirm takes it.
    pub(super) resumed: Option<Box<Filed>>,
    /// Resolved: the entry's place in the registry, and beyond its end until then. Entries live as long as the executor.
    pub(super) at: usize,
    /// Resolved: the decision about a foreign tool, about what another provider carries out, and about what nothing does. For
    /// all others the registry keeps it.
    pub(super) decided: Option<Arc<ProviderDecision>>,
    /// Validated: in their canonical form.
    pub(super) arguments: Arguments,
    /// Validated: what the arguments name as the thing acted on.
    pub(super) target: Option<(TargetKind, String)>,
    /// Validated: what the arguments name as the scope of a declaration.
    pub(super) scope: Option<String>,
    /// Validated: what policy said before the author's part ran; none when that part was waited for. Permitted: the verdict.
    pub(super) judged: Option<Decision>,
    /// What the author's code was lent, for as long as this course answers for it.
    pub(super) held: Option<LeaseHolder>,
    /// Validated: what would run. What policy denies is not prepared. Execute takes it.
    pub(super) prepared: Option<(Prepared, Call)>,
    /// Confirmed: whether a person's answer to this very call was used up for it.
    pub(super) answered: bool,
    /// Executed or stopped: how it ended; what became of the world is the ticket's.
    pub(super) ended: Option<Ended>,
    /// Where in a schema it ended.
    pub(super) place: Option<SchemaPlace>,
    /// Whether a provider's tool says that it failed.
    pub(super) provider_failed: bool,
}

/// Nothing is established.
pub struct Proposed(pub(super) ());

/// It names a registered capability, and a provider decision says who would run it.
pub struct Resolved(pub(super) ());

/// Its arguments follow the schema, parse, and make sense to the author.
pub struct Validated(pub(super) ());

/// Policy has spoken, and the turn has room.
pub struct Permitted(pub(super) ());

/// Whatever answer it takes is there, and is used up.
pub struct Confirmed(pub(super) ());

/// The body ended, one way or another; only the record is missing.
pub struct Executed(pub(super) ());

/// An invocation that goes no further: only the record is missing.
pub struct Stopped(pub(super) Box<Course>);

impl Course {
    /// Nothing is known but who asks for what.
    pub(super) fn new(ticket: AuditTicket, proposal: Proposal) -> Box<Self> {
        // Room first, so that it is filled where it lies.
        Box::write(
            Box::new_uninit(),
            Self {
                ticket,
                proposal,
                resumed: None,
                at: usize::MAX,
                decided: None,
                arguments: Arguments::default(),
                target: None,
                scope: None,
                judged: None,
                held: None,
                prepared: None,
                answered: false,
                ended: None,
                place: None,
                provider_failed: false,
            },
        )
    }

    /// The registered capability, once it is resolved.
    pub(super) fn registered(&self) -> Option<&Registered> {
        self.ticket.executor.registry.at(self.at)
    }

    /// Its entry.
    pub(super) fn entry(&self) -> Option<&'static Capability> {
        self.registered().map(Registered::entry)
    }

    /// The decision about it.
    pub(super) fn provider(&self) -> Option<&ProviderDecision> {
        match &self.decided {
            Some(decided) => Some(decided),
            None => self.registered().map(Registered::served),
        }
    }

    /// What the author's code is lent, until this course ends or says otherwise.
    pub(super) fn call(&mut self, entry: &'static Capability) -> Call {
        let lease = Lease::new(Terms {
            entry,
            invocation: self.ticket.invocation(),
            identity: self.ticket.session.shared_identity(),
            target: self.target.clone(),
            broker: Arc::clone(&self.ticket.executor.broker),
            max_result: entry.bounds().max_result(),
            foreign: self.foreign(),
            asks: [HandleFamily::Context, HandleFamily::Schedules, HandleFamily::Agents]
                .into_iter()
                .any(|family| entry.holds(family))
                .then(|| self.ticket.session.clone()),
            ending: Ending::default(),
            rules: self.path_rules(entry),
            shown: std::sync::OnceLock::new(),
            elsewhere: false,
        });
        self.held = Some(LeaseHolder::of(&lease));
        Call::new(lease)
    }

    /// What goes on to a provider's tool, with the decision that it goes on under; none for every other call.
    fn foreign(&self) -> Option<Box<Foreign>> {
        let decision = self.decided.as_ref().filter(|decision| decision.tool.is_some())?;
        let arguments = self.arguments.text_of(ARGUMENTS)?.to_vec();
        Some(Box::new(Foreign { decision: Arc::clone(decision), arguments }))
    }

    /// The rules of this moment, for an entry that is lent files.
    fn path_rules(&self, entry: &Capability) -> Option<PathRules> {
        entry.handles().iter().find(|kind| kind.family() == HandleFamily::Workspace)?;
        let executor = &self.ticket.executor;
        let policy = executor.policy.current();
        if policy.is_empty() {
            return None;
        }
        let at = if policy.asks_for_the_time() { executor.environment.now() } else { Timestamp::from_micros(0) };
        Some(PathRules { policy, session: self.ticket.session.clone(), scope: self.scope.clone(), at })
    }

    /// Ends here, before the body began. What was prepared is thrown away.
    #[cold]
    pub(super) fn stop(mut self: Box<Self>, ended: Ended) -> Box<Stopped> {
        if let Ended::Rejected(refusal) = &ended {
            self.ticket.stage = refused_at(refusal.code, self.ticket.stage);
        }
        self.ticket.effect = Effect::NotStarted;
        self.prepared = None;
        self.ended = Some(ended);
        Box::new(Stopped(self))
    }

    /// Ends here with a refusal.
    #[cold]
    pub(super) fn refuse(self: Box<Self>, refusal: impl Into<Refusal>) -> Box<Stopped> {
        self.stop(Ended::Rejected(refusal.into()))
    }
}

/// The stage that gave a refusal. A runner may have no room at either of the two stages that need it: the stage is the one
/// that was reached, and a call that never came to be executed is not recorded as if it had.
pub(super) const fn refused_at(code: Code, reached: Stage) -> Stage {
    if matches!(code, Code::RunnerSaturated) { reached } else { code.stage() }
}
