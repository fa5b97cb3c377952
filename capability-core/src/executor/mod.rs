//! The one executor: every invocation, whoever asks, through six stages in one order.
//!
//! `invoke` and `resume` are the two doors, and both run all six stages. Source: RFC-0003, "Deterministic Executor".

mod confirm;
mod decide;
mod desk;
mod edit;
mod execute;
mod finish;
mod grants;
mod invocation;
mod listing;
#[cfg(feature = "analysis")]
mod mirror;
mod outcome;
mod permit;
mod proposal;
mod question;
mod resolve;
mod runner;
mod standing;
mod steps;
mod validate;
mod waiting;

pub use desk::AnswerFault;
pub use edit::Edited;
pub use grants::{GrantFault, GrantPreview};
pub use invocation::{Confirmed, Executed, Invocation, Permitted, Proposed, Resolved, Stopped, Validated};
pub use outcome::{Effect, Ended, MAX_MESSAGE_BYTES, Outcome, Refusal};
pub use proposal::Proposal;
pub(crate) use runner::caught;
pub use runner::{
    BodyEnd, Deadline, Guarantees, InlineRunner, Isolation, PREPARE_TIMEOUT, PrepareFault, Prepared, Runner,
    prepare_in_process, run_in_process,
};
pub use steps::{ReadyToAudit, ReadyToConfirm, ReadyToExecute, ReadyToPermit, ReadyToResolve, ReadyToValidate};

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::approval::{ApprovalId, ApprovalStatus, DigestKey, Filed, GrantLimits, OperatorMint};
use crate::audit::{AuditTicket, Event, InvocationId, Record, Sink, Submission};
use crate::code::{Code, Stage};
use crate::handle::Broker;
use crate::policy::PolicySource;
use crate::provider::{ProviderSnapshot, Providers};
use crate::redact::Redaction;
use crate::registry::Registry;
use crate::session::{Mode, Session, SessionMint};
use crate::store::{Approvals, Found, Grants, History, OptIns, Results, Turns};
use crate::time::Environment;

use invocation::Course;
use standing::{Leaving, Standing};

/// Limits that hold for every capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most invocations one turn may have, over all capabilities.
    pub per_turn: u32,
    /// How long a pending invocation waits for its answer and its run.
    pub approval_lifetime: Duration,
}

impl Default for Limits {
    /// 32 invocations a turn; 120 s for an answer.
    fn default() -> Self {
        Self { per_turn: 32, approval_lifetime: Duration::from_secs(120) }
    }
}

/// Everything an executor is handed; it takes nothing by itself.
pub struct Setup {
    /// The capabilities of this build.
    pub registry: Registry,
    /// Runs bodies.
    pub runner: Arc<dyn Runner>,
    /// Serves handles.
    pub broker: Arc<dyn Broker>,
    /// Takes records.
    pub sink: Arc<dyn Sink>,
    /// Keeps what waits for a person.
    pub approvals: Arc<dyn Approvals>,
    /// Counts invocations per turn.
    pub turns: Arc<dyn Turns>,
    /// Tells which external families are on.
    pub opt_ins: Arc<dyn OptIns>,
    /// Counts the uses of standing answers.
    pub grants: Arc<dyn Grants>,
    /// The capabilities for which there may be standing answers at all: none, unless an operator says so.
    pub grant_limits: GrantLimits,
    /// Tells subjects what operators did about their calls.
    pub history: Arc<dyn History>,
    /// Tells which rules are in force.
    pub policy: Arc<dyn PolicySource>,
    /// Tells which providers there are beside this host.
    pub providers: Arc<dyn Providers>,
    /// The wall clock and randomness.
    pub environment: Arc<dyn Environment>,
    /// The installation's digest key.
    pub key: DigestKey,
    /// Limits that hold for every capability.
    pub limits: Limits,
}

/// What an executor is made of; an invocation holds on to it.
pub(crate) struct Inner {
    registry: Registry,
    runner: Arc<dyn Runner>,
    broker: Arc<dyn Broker>,
    pub(crate) sink: Arc<dyn Sink>,
    approvals: Arc<dyn Approvals>,
    turns: Arc<dyn Turns>,
    opt_ins: Arc<dyn OptIns>,
    grants: Arc<dyn Grants>,
    grant_limits: GrantLimits,
    history: Arc<dyn History>,
    policy: Arc<dyn PolicySource>,
    providers: Arc<dyn Providers>,
    /// Whether there can be providers at all.
    provided: bool,
    pub(crate) environment: Arc<dyn Environment>,
    key: DigestKey,
    limits: Limits,
    /// The standing answers that live.
    standing: Standing,
    /// Counts changes at the desk.
    changes: tokio::sync::watch::Sender<u64>,
    /// Held by whoever answers or expires, so that record and move are one step to everybody else; with what was recorded
    /// as expired and has not moved yet.
    desk: tokio::sync::Mutex<BTreeSet<ApprovalId>>,
    /// Keeps results for their own sessions, once a host has said where.
    results: OnceLock<Arc<dyn Results>>,
    /// Takes secrets out of outcomes, once a host has said what knows them.
    redaction: OnceLock<Arc<dyn Redaction>>,
    /// Half of every invocation's id: random per start.
    start: [u8; 8],
    /// The other half: counted.
    count: AtomicU64,
}

impl Inner {
    /// Something at the desk looks different.
    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Which policy is in force.
    fn policy_revision(&self) -> [u8; 32] {
        *self.policy.current().revision().as_bytes()
    }

    /// Submits an event that is no invocation's.
    fn submit(&self, event: Event) -> Submission {
        self.sink.submit(Record { at: self.environment.now(), event })
    }

    /// Whether the broker serves every handle of an entry, to a capability of its class.
    fn binds(&self, entry: &crate::Capability) -> bool {
        entry.handles().iter().all(|kind| self.broker.serves(*kind, entry.class()))
    }
}

/// Runs invocations. Cheap to clone; all clones are one executor.
///
/// [`build`](Self::build) makes it, [`invoke`](Self::invoke) asks for something, and [`resume`](Self::resume) goes on with
/// what waited for a person. An [`Operator`](crate::approval::Operator) sees what [`waits`](Self::waiting) and
/// [`answers`](Self::answer) it. Nothing else runs a capability.
#[derive(Clone)]
pub struct Executor(Arc<Inner>);

/// An executor and the two doors that only its host may hold.
pub struct Parts {
    /// Runs invocations.
    pub executor: Executor,
    /// Opens sessions for whom the host authenticated.
    pub sessions: SessionMint,
    /// Admits operators whose credential the host checked.
    pub operators: OperatorMint,
}

impl Executor {
    /// Builds an executor, and with it the only session mint and the only operator mint it will ever have.
    #[must_use]
    pub fn build(setup: Setup) -> Parts {
        let Setup {
            registry,
            runner,
            broker,
            sink,
            approvals,
            turns,
            opt_ins,
            policy,
            providers,
            grants,
            grant_limits,
            history,
            environment,
            key,
            limits,
        } = setup;
        let mut start = [0; 8];
        environment.fill_random(&mut start);
        let count = AtomicU64::new(0);
        let desk = tokio::sync::Mutex::default();
        let inner = Inner {
            registry,
            runner,
            broker,
            sink,
            approvals,
            turns,
            opt_ins,
            grants,
            grant_limits,
            history,
            policy,
            provided: providers.any(),
            providers,
            environment,
            key,
            limits,
            standing: Standing::default(),
            changes: tokio::sync::watch::Sender::default(),
            desk,
            results: OnceLock::new(),
            redaction: OnceLock::new(),
            start,
            count,
        };
        Parts { executor: Self(Arc::new(inner)), sessions: SessionMint(()), operators: OperatorMint(()) }
    }

    /// The capabilities of this build.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Keeps every result that is given from here on where its own session can have it again. Said once, by the host; what is
    /// said later changes nothing, and without it nothing is kept.
    pub fn keep_results(&self, results: Arc<dyn Results>) {
        let _ = self.0.results.set(results);
    }

    /// Takes secrets out of every outcome that is given from here on: of results, of sentences, and of what is kept for the
    /// session. Said once, by the host; what is said later changes nothing. Without it every outcome is given as it is: such a
    /// host has no secrets.
    pub fn redact_with(&self, redaction: Arc<dyn Redaction>) {
        let _ = self.0.redaction.set(redaction);
    }

    /// The rules in force at this moment.
    #[must_use]
    pub fn policy(&self) -> Arc<crate::policy::Policy> {
        self.0.policy.current()
    }

    /// The providers that are known at this moment.
    #[must_use]
    pub fn providers(&self) -> Arc<ProviderSnapshot> {
        self.0.providers.snapshot()
    }

    /// What the runner can promise for an entry.
    #[must_use]
    pub fn guarantees(&self, entry: &'static crate::Capability) -> Guarantees {
        self.0.runner.guarantees(entry)
    }

    /// Whether this host serves every handle of an entry.
    #[must_use]
    pub fn is_bound(&self, entry: &crate::Capability) -> bool {
        self.0.binds(entry)
    }

    /// Asks for something. Whatever happens is the outcome, and is audited: a refusal, a pending question and a failure
    /// as much as a result.
    pub async fn invoke(&self, session: &Session, proposal: Proposal) -> Outcome {
        let course = match self.enter(session, proposal) {
            Err(stopped) => stopped.0,
            Ok(course) => through(Invocation { course, state: Proposed(()) }).await,
        };
        course.audit().await
    }

    /// Goes on with a pending invocation once it was answered: the stored bytes, under the stored identity, in the
    /// stricter of both modes, through all six stages again.
    ///
    /// Needs a session of the subject that proposed it, in the slot that it was proposed in, and for those for whom it was.
    pub async fn resume(&self, session: &Session, id: ApprovalId) -> Outcome {
        let course = match self.enter(session, Proposal::new(String::new(), 0, Vec::new())) {
            Err(stopped) => stopped.0,
            Ok(course) => match self.reopen(course, id).await {
                Err(stopped) => stopped.0,
                Ok(invocation) => through(invocation).await,
            },
        };
        course.audit().await
    }

    /// The first typestate, for measuring stages one by one: whoever holds an executor and a session could `invoke` as
    /// well, and nothing can be skipped from here either.
    #[doc(hidden)]
    #[must_use]
    pub fn enter_for_measurement(&self, session: &Session, proposal: Proposal) -> Option<Invocation<Proposed>> {
        self.enter(session, proposal).ok().map(|course| Invocation { course, state: Proposed(()) })
    }

    /// The door: an audit ticket first, then whether this session may ask at all.
    fn enter(&self, session: &Session, proposal: Proposal) -> Result<Box<Course>, Box<Stopped>> {
        let inner = &self.0;
        let mut id = [0; 16];
        let (start, count) = id.split_at_mut(8);
        start.copy_from_slice(&inner.start);
        count.copy_from_slice(&inner.count.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        let ticket = AuditTicket::open(Arc::clone(inner), session.clone(), InvocationId(id));
        let course = Course::new(ticket, proposal);
        if session.identity().mode != Mode::Live {
            // Whoever thinks in a stricter mode has left what was granted in the ordinary one.
            inner.standing.leave(session.identity(), Leaving::Mode);
        }
        if session.identity().mode.is_refused_on_entry() {
            return Err(course.refuse(Code::ModeRefused));
        }
        if session.ending().has_come() {
            inner.standing.leave(session.identity(), Leaving::Session);
            return Err(course.refuse(Code::SessionEnded));
        }
        Ok(course)
    }

    /// Finds what is resumed and puts the stored identity in the proposer's place.
    async fn reopen(&self, mut course: Box<Course>, id: ApprovalId) -> Result<Invocation<Proposed>, Box<Stopped>> {
        if self.expire_due().await.is_err() {
            return Err(course.refuse(Code::StoreUnavailable));
        }
        let Ok(found) = self.0.approvals.find(id).await else {
            return Err(course.refuse(Code::StoreUnavailable));
        };
        // Somebody else's approval and none at all are told apart to nobody. What one slot asked for is judged by what that slot
        // declares now, and by no other one's manifest; what was asked for somebody, by what that one may do now.
        let asker = &course.ticket.session;
        let own = |found: &Found| {
            found.summary.identity.subject == asker.identity().subject
                && found.filed.as_ref().is_none_or(|filed| filed.approval.is_of(asker))
        };
        let Some(Found { summary, filed, reason, note, successor }) = found.filter(own) else {
            return Err(course.refuse(Code::ApprovalUnknown));
        };
        course.ticket.approval = Some(id);
        course.ticket.stage = Stage::Confirm;
        let filed = match (summary.status, filed) {
            (ApprovalStatus::Denied, _) => return Err(course.stop(Ended::Denied { reason, note })),
            (ApprovalStatus::Expired, _) => return Err(course.stop(Ended::Expired)),
            (ApprovalStatus::Consumed, _) => return Err(course.refuse(Code::ApprovalConsumed)),
            (ApprovalStatus::Superseded, _) => {
                return Err(match successor {
                    Some(successor) => course.stop(Ended::Superseded { successor }),
                    None => course.refuse(Code::StoreUnavailable),
                });
            }
            (ApprovalStatus::Pending, _) => {
                return Err(course.stop(Ended::Pending { approval: id, expires_at: summary.expires_at }));
            }
            (ApprovalStatus::Approved, None) => return Err(course.refuse(Code::StoreUnavailable)),
            (ApprovalStatus::Approved, Some(filed)) => filed,
        };
        let Filed { approval, .. } = &filed;
        let mut identity = approval.identity.clone();
        identity.mode = identity.mode.max(course.ticket.session.identity().mode);
        course.ticket.session = course.ticket.session.under(identity);
        course.proposal = Proposal {
            name: approval.capability.clone(),
            version: approval.version.get(),
            arguments: approval.arguments.clone(),
            claims: approval.claims.clone(),
            // What was approved is bound to the definition by its digest.
            selected: None,
            refused: None,
        };
        course.resumed = Some(Box::new(filed));
        Ok(Invocation { course, state: Proposed(()) })
    }

    /// Records something that is no invocation: an answer, an expiry, a changed setting.
    pub(crate) async fn record(&self, event: Event) -> Result<crate::audit::Receipt, crate::audit::SinkFault> {
        self.0.submit(event).durable().await
    }
}

/// The first five stages. Each hands on or stops, and whichever it was, the audit follows.
async fn through(invocation: Invocation<Proposed>) -> Box<Course> {
    match to_the_end(invocation).await {
        Ok(executed) => executed.course,
        Err(stopped) => stopped.0,
    }
}

async fn to_the_end(invocation: Invocation<Proposed>) -> Result<Invocation<Executed>, Box<Stopped>> {
    invocation
        .into_resolved()?
        .into_validated()
        .await?
        .into_permitted()
        .await?
        .into_confirmed()
        .await?
        .into_executed()
        .await
}
