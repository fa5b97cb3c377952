//! The promise that something will be written.

use core::time::Duration;
use std::sync::Arc;

use tokio::time::Instant;

use super::{Asked, Event, InvocationId, OutcomeKind, Record, SchemaPlace, Sink, Submission};
use crate::approval::ApprovalId;
use crate::code::{Code, Stage};
use crate::contract::Capability;
use crate::executor::{Effect, Guarantees};
use crate::session::SessionIdentity;
use crate::time::{Environment, Timestamp};

/// Made before resolve; writes the invocation's outcome when it is finished, or what it knows when it is dropped: a
/// panic and a cancelled future leave a record too.
pub(crate) struct AuditTicket {
    sink: Arc<dyn Sink>,
    asked: Asked,
    begun: Instant,
    /// The wall clock when it was opened; later times are counted from it, so that one invocation's records are in order
    /// even when the clock is set meanwhile.
    opened: Timestamp,
    /// The last reading of the monotonic clock: it is read again only after something was waited for.
    now: Instant,
    pub(crate) stage: Stage,
    /// What became of the world if nothing more is heard.
    pub(crate) effect: Effect,
    pub(crate) approval: Option<ApprovalId>,
    pub(crate) guarantees: Option<Guarantees>,
    finished: bool,
}

/// How an invocation ended, as far as the log may know.
pub(crate) struct Ending {
    pub(crate) outcome: OutcomeKind,
    pub(crate) code: Option<Code>,
    pub(crate) place: Option<SchemaPlace>,
    pub(crate) effect: Effect,
    pub(crate) result_bytes: Option<u64>,
}

impl AuditTicket {
    pub(crate) fn open(
        sink: Arc<dyn Sink>,
        environment: &dyn Environment,
        invocation: InvocationId,
        identity: Arc<SessionIdentity>,
    ) -> Self {
        let begun = Instant::now();
        Self {
            opened: environment.now(),
            now: begun,
            begun,
            sink,
            asked: Asked { invocation, capability: None, identity },
            stage: Stage::Entry,
            effect: Effect::NotStarted,
            approval: None,
            guarantees: None,
            finished: false,
        }
    }

    /// The capability is settled.
    pub(crate) fn resolved(&mut self, capability: &Capability, class: crate::contract::Class) {
        self.asked.capability = Some((capability.name(), capability.version(), class));
    }

    /// Whose call it is, once a stored identity takes the proposer's place.
    pub(crate) fn under(&mut self, identity: Arc<SessionIdentity>) {
        self.asked.identity = identity;
    }

    pub(crate) const fn invocation(&self) -> InvocationId {
        self.asked.invocation
    }

    pub(crate) fn asked(&self) -> Asked {
        self.asked.clone()
    }

    pub(crate) const fn begun(&self) -> Instant {
        self.begun
    }

    /// The time of the last waiting's end.
    pub(crate) const fn now(&self) -> Instant {
        self.now
    }

    /// Something was waited for, or somebody else's code has run.
    pub(crate) fn waited(&mut self) {
        self.now = Instant::now();
    }

    pub(crate) fn submit(&self, event: Event) -> Submission {
        self.submit_after(self.now.saturating_duration_since(self.begun), event)
    }

    fn submit_after(&self, elapsed: Duration, event: Event) -> Submission {
        self.sink.submit(Record { at: self.opened.after(elapsed), event })
    }

    /// Writes the outcome.
    pub(crate) fn finish(mut self, ending: Ending) -> Submission {
        self.write(ending)
    }

    fn write(&mut self, ending: Ending) -> Submission {
        self.finished = true;
        self.waited();
        let elapsed = self.now.saturating_duration_since(self.begun);
        let duration_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let event = Event::Outcome {
            asked: self.asked.clone(),
            outcome: ending.outcome,
            stage: self.stage,
            code: ending.code,
            place: ending.place,
            effect: ending.effect,
            approval: self.approval,
            result_bytes: ending.result_bytes,
            duration_us,
            guarantees: self.guarantees,
        };
        self.submit_after(elapsed, event)
    }
}

impl Drop for AuditTicket {
    fn drop(&mut self) {
        if !self.finished {
            let outcome = if std::thread::panicking() { OutcomeKind::Panicked } else { OutcomeKind::Cancelled };
            let effect = self.effect;
            // Nobody is left to wait for the receipt; the record itself is on its way.
            drop(self.write(Ending { outcome, code: None, place: None, effect, result_bytes: None }));
        }
    }
}
