//! What an invocation hands to the body it runs.

use core::time::Duration;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::audit::InvocationId;
use crate::contract::{Capability, TargetKind};
use crate::executor::PREPARE_TIMEOUT;
use crate::future::BoxFuture;
use crate::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, Lease, SecretUse, Terms};
use crate::session::{Ending, SessionIdentity};

/// One call: the lease its handles are served under, the broker behind them, and its bounds. Minted by the executor.
#[derive(Clone)]
pub struct Call {
    lease: Lease,
    /// Set when it is first asked for.
    deadline: OnceLock<Instant>,
    /// Whether whatever answer it takes was given. A call that is only being prepared leaves no trace.
    confirmed: bool,
    /// Whether a person answered this very call.
    answered: bool,
}

impl Call {
    /// A call that is being prepared: nobody has answered yet.
    pub(crate) const fn new(lease: Lease) -> Self {
        Self { lease, deadline: OnceLock::new(), confirmed: false, answered: false }
    }

    /// Asks the broker for something under this call's lease: what handles do, and what a runner does for a body that runs
    /// elsewhere. Whoever asks, and by whatever way, the capability's entry must declare the handle; a call that is not
    /// confirmed is refused whatever would leave a trace, and one that has ended is refused everything.
    pub fn ask(&self, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        match self.admits(&request) {
            Ok(()) => match (&self.lease.terms().asks, &request) {
                // Known here: no broker is asked.
                (Some(session), BrokerRequest::Declares { name, scope }) => {
                    let declares = session.declares(name, scope.as_deref());
                    Box::pin(core::future::ready(Ok(BrokerReply::Declares(declares))))
                }
                _ => self.lease.terms().broker.serve(&self.lease, request),
            },
            Err(fault) => Box::pin(core::future::ready(Err(fault))),
        }
    }

    fn admits(&self, request: &BrokerRequest) -> Result<(), BrokerFault> {
        let terms = self.lease.terms();
        request.is_declared_by(terms.entry.handles())?;
        if !request.is_within_caps() {
            return Err(BrokerFault::CapExceeded);
        }
        if terms.ending.has_come() {
            return Err(BrokerFault::Ended);
        }
        if !self.confirmed && request.leaves_a_trace() {
            return Err(BrokerFault::Unconfirmed);
        }
        // Where the body runs elsewhere it is not known what was shown; whoever serves it there asks the same again.
        let bound = |secrets: &[SecretUse]| self.answered && (terms.elsewhere || self.lease.binds(secrets));
        if let BrokerRequest::Run { command } = &request
            && !command.secrets.is_empty()
            && !bound(&command.secrets)
        {
            return Err(BrokerFault::SecretRefused);
        }
        let target = terms.target.as_ref().filter(|(kind, _)| *kind == TargetKind::Path).map(|(_, path)| path.as_str());
        request.is_for_its_paths(terms.entry.handles(), target, self.answered)?;
        let Some(rules) = &terms.rules else { return Ok(()) };
        let admitted = |path: &str| rules.admit(terms.entry, target, path, self.answered);
        if request.paths().all(admitted) { Ok(()) } else { Err(BrokerFault::RuleDenied) }
    }

    /// For whom it runs.
    #[must_use]
    pub const fn lease(&self) -> &Lease {
        &self.lease
    }

    /// The same call is confirmed from now on, with a deadline of its own: preparing and running are bounded each for itself.
    /// `answered` says that a person's answer to this very call was used up for it.
    pub(crate) fn confirm(&mut self, answered: bool) {
        self.deadline = OnceLock::new();
        self.confirmed = true;
        self.answered = answered;
    }

    /// When it must have ended. It counts from when it is first asked for: a runner asks as it begins, and of a body that
    /// has ended before anybody asked there is nothing to bound.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        *self.deadline.get_or_init(|| {
            let lasting = if self.confirmed { self.lease.entry().bounds().timeout() } else { PREPARE_TIMEOUT };
            Instant::now() + lasting
        })
    }

    /// How many bytes its result's JSON text may have.
    #[must_use]
    pub fn max_result(&self) -> u64 {
        self.lease.terms().max_result
    }

    /// Its terms as plain data, for a body that runs elsewhere.
    #[must_use]
    pub fn terms(&self) -> CallTerms {
        let terms = self.lease.terms();
        CallTerms {
            invocation: terms.invocation,
            identity: terms.identity.as_ref().clone(),
            target: terms.target.clone(),
            max_result: terms.max_result,
            confirmed: self.confirmed,
            answered: self.answered,
            remaining: self.deadline().saturating_duration_since(Instant::now()),
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
    answered: bool,
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
        let Self { invocation, identity, target, max_result, confirmed, answered, remaining } = self;
        let identity = Arc::new(identity);
        let ending = Ending::default();
        let lease = Lease::new(Terms {
            entry,
            invocation,
            identity,
            target,
            broker,
            max_result,
            foreign: None,
            asks: None,
            ending,
            rules: None,
            shown: OnceLock::new(),
            elsewhere: true,
        });
        let deadline = OnceLock::from(Instant::now() + remaining);
        Call { lease, deadline, confirmed, answered }
    }
}

impl core::fmt::Debug for Call {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Call({})", self.lease.entry())
    }
}
