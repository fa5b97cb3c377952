//! Who asks, and how long there is.

use core::time::Duration;
use std::sync::Arc;

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed,
};
use crate::call::Call;
use crate::failure::Failure;
use crate::session::{Declaration, Mode, Required, SessionIdentity, Subject, TurnId};

/// The call's circumstances. Reading it changes nothing and reaches nothing.
#[derive(Debug, Clone)]
pub struct Context {
    identity: Arc<SessionIdentity>,
    deadline: tokio::time::Instant,
    call: Call,
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

    /// Goes on only if the subject's manifest declares `declaration`, and so does whoever it acts for: a name as in `fs.read`,
    /// with its scope as in `mcp.call:docs`. A component is judged by its own slot: by what its session declares. What a manifest
    /// denies, or has a person asked about, is not gone on with either: nobody can be asked in the middle of a call.
    ///
    /// A declaration is necessary, never sufficient: what the call goes on to do is judged by itself.
    ///
    /// ```
    /// use capability_core::{Context, Failure};
    ///
    /// async fn summary(context: &Context) -> Result<(), Failure> {
    ///     context.require("fs.read").await
    /// }
    /// ```
    ///
    /// # Errors
    /// A public failure that names what is missing; a private one when `declaration` is none.
    pub async fn require(&self, declaration: &str) -> Result<(), Failure> {
        let required: Declaration = declaration.parse()?;
        let (name, scope) = (required.name().to_owned(), required.scope().map(str::to_owned));
        match self.call.ask(BrokerRequest::Declares { name, scope }).await? {
            BrokerReply::Declares(said) => match said {
                Required::Declared => Ok(()),
                Required::Undeclared => Err(Failure::public(format!(
                    "this subject's manifest does not declare `{required}`\nhelp: an operator adds it to the subject's manifest"
                ))),
                Required::Denied => Err(Failure::public(format!(
                    "this subject's manifest denies `{required}`\nhelp: an operator takes the `deny` out of the manifest"
                ))),
                Required::Asks => Err(Failure::public(format!(
                    "this subject's manifest has a person asked about `{required}`, and nobody can be asked in the middle of a call\nhelp: \
                     an operator takes the `prompt` out of the manifest"
                ))),
            },
            _ => Err(BrokerFault::WrongReply.into()),
        }
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
        Self { identity: Arc::clone(&call.lease().terms().identity), deadline: call.deadline(), call: call.clone() }
    }
}
