//! What an invocation hands to the body it runs.

use std::sync::Arc;

use crate::future::BoxFuture;
use crate::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, Lease};

/// One call: the lease its handles are served under, the broker behind them, and its bounds. Minted by the executor.
#[derive(Clone)]
pub struct Call(Arc<Terms>);

struct Terms {
    lease: Lease,
    broker: Arc<dyn Broker>,
    deadline: tokio::time::Instant,
    max_result: u64,
}

impl Call {
    pub(crate) fn new(lease: Lease, broker: Arc<dyn Broker>, deadline: tokio::time::Instant, max_result: u64) -> Self {
        Self(Arc::new(Terms { lease, broker, deadline, max_result }))
    }

    /// For whom it runs.
    #[must_use]
    pub fn lease(&self) -> &Lease {
        &self.0.lease
    }

    /// When it must have ended.
    #[must_use]
    pub fn deadline(&self) -> tokio::time::Instant {
        self.0.deadline
    }

    /// How many bytes its result's JSON text may have.
    #[must_use]
    pub fn max_result(&self) -> u64 {
        self.0.max_result
    }

    pub(crate) fn ask(&self, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        self.0.broker.serve(&self.0.lease, request)
    }
}

impl core::fmt::Debug for Call {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Call({}@{})", self.0.lease.capability, self.0.lease.version)
    }
}
