//! The promise that something will be written.

use core::num::NonZeroU32;
use std::sync::Arc;

use tokio::time::Instant;

use super::{Asked, Event, InvocationId, OutcomeKind, ProvidedBy, Record, SchemaPlace, Submission};
use crate::approval::ApprovalId;
use crate::code::{Code, Stage};
use crate::contract::{Capability, CapabilityName, Class};
use crate::executor::{Effect, Guarantees, Inner};
use crate::provider::ProviderDecision;
use crate::session::Session;
use crate::time::Timestamp;

/// Made before resolve; writes the invocation's outcome when it is finished, or what it knows when it is dropped: a
/// panic and a cancelled future leave a record too.
///
/// It holds whose call it is and who keeps the log, for the whole invocation: nothing has them twice.
pub(crate) struct AuditTicket {
    pub(crate) executor: Arc<Inner>,
    pub(crate) session: Session,
    invocation: InvocationId,
    capability: Option<(CapabilityName, NonZeroU32, Class)>,
    provided: Option<Arc<ProvidedBy>>,
    begun: Instant,
    /// The wall clock when it was opened; later times are counted from it, so that one invocation's records are in order
    /// even when the clock is set meanwhile.
    opened: Timestamp,
    /// How long it took until the monotonic clock was last read, in microseconds: that is done again only after something
    /// was waited for.
    elapsed: u64,
    pub(crate) stage: Stage,
    /// What became of the world if nothing more is heard.
    pub(crate) effect: Effect,
    pub(crate) approval: Option<ApprovalId>,
    pub(crate) guarantees: Option<Guarantees>,
    finished: bool,
}

/// How an invocation ended, as far as the log may know; what became of the world is known to the ticket.
pub(crate) struct Ending {
    pub(crate) outcome: OutcomeKind,
    pub(crate) code: Option<Code>,
    pub(crate) place: Option<SchemaPlace>,
    pub(crate) result_bytes: Option<u64>,
    pub(crate) provider_failed: bool,
}

impl AuditTicket {
    pub(crate) fn open(executor: Arc<Inner>, session: Session, invocation: InvocationId) -> Self {
        let begun = Instant::now();
        Self {
            opened: executor.environment.now(),
            elapsed: 0,
            begun,
            executor,
            session,
            invocation,
            capability: None,
            provided: None,
            stage: Stage::Entry,
            effect: Effect::NotStarted,
            approval: None,
            guarantees: None,
            finished: false,
        }
    }

    /// The capability is settled, and who carries it out where that is not this host.
    pub(crate) fn resolved(&mut self, capability: &Capability, class: Class, decided: Option<&ProviderDecision>) {
        self.capability = Some((capability.name(), capability.version(), class));
        self.provided = decided.and_then(ProvidedBy::of).map(Arc::new);
    }

    pub(crate) const fn invocation(&self) -> InvocationId {
        self.invocation
    }

    #[inline]
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            invocation: self.invocation,
            capability: self.capability,
            provided: self.provided.clone(),
            identity: self.session.shared_identity(),
        }
    }

    /// Something was waited for, or somebody else's code has run.
    pub(crate) fn waited(&mut self) {
        self.elapsed = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    }

    /// The time of what is recorded now.
    #[inline]
    pub(crate) fn at(&self) -> Timestamp {
        self.opened.after_micros(self.elapsed)
    }

    #[inline]
    pub(crate) fn submit(&self, record: Record) -> Submission {
        self.executor.sink.submit(record)
    }

    /// Writes the outcome. Nothing more is written after it, also when the ticket is dropped.
    pub(crate) fn finish(&mut self, ending: Ending) -> Submission {
        self.finished = true;
        self.waited();
        self.submit(Record {
            at: self.at(),
            event: Event::Outcome {
                asked: self.asked(),
                outcome: ending.outcome,
                stage: self.stage,
                code: ending.code,
                place: ending.place,
                effect: self.effect,
                approval: self.approval,
                result_bytes: ending.result_bytes,
                provider_failed: ending.provider_failed,
                duration_us: self.elapsed,
                guarantees: self.guarantees,
            },
        })
    }
}

impl Drop for AuditTicket {
    fn drop(&mut self) {
        if !self.finished {
            let outcome = if std::thread::panicking() { OutcomeKind::Panicked } else { OutcomeKind::Cancelled };
            // Nobody is left to wait for the receipt; the record itself is on its way.
            let ending = Ending { outcome, code: None, place: None, result_bytes: None, provider_failed: false };
            drop(self.finish(ending));
        }
    }
}
