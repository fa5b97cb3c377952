//! What an invocation hands to the body it runs.

use core::time::Duration;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::audit::InvocationId;
use crate::contract::{Capability, TargetKind};
use crate::future::BoxFuture;
use crate::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, Lease};
use crate::session::SessionIdentity;

/// One call: the lease its handles are served under, the broker behind them, and its bounds. Minted by the executor.
#[derive(Clone)]
pub struct Call {
    terms: Arc<Terms>,
    deadline: tokio::time::Instant,
    /// Whether whatever answer it takes was given. A call that is only being prepared leaves no trace.
    confirmed: bool,
}

struct Terms {
    lease: Lease,
    broker: Arc<dyn Broker>,
    max_result: u64,
}

impl Call {
    /// A call that is being prepared: nobody has answered yet.
    pub(crate) fn new(lease: Lease, broker: Arc<dyn Broker>, deadline: tokio::time::Instant, max_result: u64) -> Self {
        Self { terms: Arc::new(Terms { lease, broker, max_result }), deadline, confirmed: false }
    }

    /// Asks the broker for something under this call's lease: what handles do, and what a runner does for a body that runs
    /// elsewhere. Whoever asks, and by whatever way, the capability's entry must declare the handle; a call that is not
    /// confirmed is refused whatever would leave a trace, and one that has ended is refused everything.
    pub fn ask(&self, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        match self.admits(&request) {
            Ok(()) => self.terms.broker.serve(&self.terms.lease, request),
            Err(fault) => Box::pin(core::future::ready(Err(fault))),
        }
    }

    fn admits(&self, request: &BrokerRequest) -> Result<(), BrokerFault> {
        let lease = &self.terms.lease;
        request.is_declared_by(lease.entry.handles())?;
        if !request.is_within_caps() {
            return Err(BrokerFault::CapExceeded);
        }
        if lease.ending.has_come() {
            return Err(BrokerFault::Ended);
        }
        if !self.confirmed && request.leaves_a_trace() {
            return Err(BrokerFault::Unconfirmed);
        }
        Ok(())
    }

    /// For whom it runs.
    #[must_use]
    pub fn lease(&self) -> &Lease {
        &self.terms.lease
    }

    /// The same call once it is confirmed, with a deadline of its own: preparing and running are bounded each for itself.
    pub(crate) fn confirmed_until(self, deadline: tokio::time::Instant) -> Self {
        Self { deadline, confirmed: true, ..self }
    }

    /// When it must have ended.
    #[must_use]
    pub fn deadline(&self) -> tokio::time::Instant {
        self.deadline
    }

    /// How many bytes its result's JSON text may have.
    #[must_use]
    pub fn max_result(&self) -> u64 {
        self.terms.max_result
    }

    /// Its terms as plain data, for a body that runs elsewhere.
    #[must_use]
    pub fn terms(&self) -> CallTerms {
        let Terms { lease, max_result, .. } = self.terms.as_ref();
        CallTerms {
            invocation: lease.invocation,
            identity: lease.identity().clone(),
            target: lease.target.clone(),
            max_result: *max_result,
            confirmed: self.confirmed,
            remaining: self.deadline.saturating_duration_since(tokio::time::Instant::now()),
        }
    }
}

/// A call as plain data: what a runner sends to where the body runs, and what becomes a call again there.
///
/// It carries no authority: whatever it says, the broker at the other end serves the lease that the executor minted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallTerms {
    invocation: InvocationId,
    identity: SessionIdentity,
    target: Option<(TargetKind, String)>,
    max_result: u64,
    confirmed: bool,
    remaining: Duration,
}

impl CallTerms {
    /// The same with this long to go: what is waited for before the body is reached does not count against it.
    #[must_use]
    pub fn lasting(self, remaining: Duration) -> Self {
        Self { remaining, ..self }
    }

    /// How long the call may still take.
    #[must_use]
    pub const fn remaining(&self) -> Duration {
        self.remaining
    }

    /// The call where the body runs, in front of a broker that forwards. Its deadline counts from now.
    #[must_use]
    pub fn call(self, entry: &'static Capability, broker: Arc<dyn Broker>) -> Call {
        let Self { invocation, identity, target, max_result, confirmed, remaining } = self;
        let identity = Arc::new(identity);
        let lease = Lease { entry, invocation, identity, target, ending: Arc::default() };
        let deadline = tokio::time::Instant::now() + remaining;
        Call { terms: Arc::new(Terms { lease, broker, max_result }), deadline, confirmed }
    }
}

impl core::fmt::Debug for Call {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Call({})", self.terms.lease.entry)
    }
}
