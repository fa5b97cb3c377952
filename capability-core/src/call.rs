//! What an invocation hands to the body it runs.

use std::sync::Arc;

use crate::future::BoxFuture;
use crate::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, Lease};

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

    pub(crate) fn ask(&self, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        if !self.confirmed && request.leaves_a_trace() {
            return Box::pin(core::future::ready(Err(BrokerFault::Unconfirmed)));
        }
        self.terms.broker.serve(&self.terms.lease, request)
    }
}

impl core::fmt::Debug for Call {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Call({}@{})", self.terms.lease.capability, self.terms.lease.version)
    }
}
