//! Who asks, and how long there is.

use core::time::Duration;
use std::sync::Arc;

use super::{Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed};
use crate::call::Call;
use crate::session::{Mode, SessionIdentity, Subject, TurnId};

/// The call's circumstances. Reading it changes nothing and reaches nothing.
#[derive(Debug, Clone)]
pub struct Context {
    identity: Arc<SessionIdentity>,
    deadline: tokio::time::Instant,
}

impl Context {
    /// For whom the call is made.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.identity.subject
    }

    /// The conversation turn it belongs to.
    #[must_use]
    pub fn turn(&self) -> TurnId {
        self.identity.turn
    }

    /// The session's mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.identity.mode
    }

    /// How long the call may still run; zero once the deadline has passed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(tokio::time::Instant::now())
    }
}

impl sealed::Sealed for Context {}
impl Handle for Context {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Context, "");
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self { identity: Arc::clone(&call.lease().terms().identity), deadline: call.deadline() }
    }
}
