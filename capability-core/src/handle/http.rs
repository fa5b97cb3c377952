//! The approved public host.

use std::os::fd::OwnedFd;

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OffDevice, Reads, Targets, sealed,
};
use crate::call::Call;

/// Connects only to the host and port that this invocation's `target` named when it was judged and approved.
///
/// The host resolves the name, refuses it when one of its addresses is not public, connects, and hands over the open
/// connection. TLS and whatever is spoken on it are the body's, in the body's own place; so a redirect leads nowhere: there
/// is no second host to connect to.
///
/// ```
/// use capability_core::handle::{BrokerFault, Http};
///
/// async fn stream(http: &Http) -> Result<std::net::TcpStream, BrokerFault> {
///     Ok(std::net::TcpStream::from(http.connect().await?))
/// }
/// ```
#[derive(Debug)]
pub struct Http(Call);

impl Http {
    /// One connected TCP stream, in non-blocking mode, to the approved target. One invocation may open a few, and the bytes
    /// that come in over all of them are counted: above the host's budget they are shut down, as they are when the call
    /// ends. The host keeps a duplicate until then, so that the other side sees an end when the body shuts the stream down,
    /// and not yet when it only drops it.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedTarget`], [`BrokerFault::PortNotAllowed`], [`BrokerFault::Unresolved`] and
    /// [`BrokerFault::NotPublic`] when the target may not be connected to; [`BrokerFault::Unavailable`] and
    /// [`BrokerFault::TimedOut`] when it does not answer; [`BrokerFault::BudgetSpent`] after too many connections;
    /// [`BrokerFault::Unconfirmed`] in a `preview`.
    pub async fn connect(&self) -> Result<OwnedFd, BrokerFault> {
        match self.0.ask(BrokerRequest::Connect).await? {
            BrokerReply::Descriptor(connected) => Ok(connected),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// What was approved: the value of the argument that the capability's `target` names, as the caller wrote it. `None`
    /// when an optional argument was left out.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.0.lease().target().map(|(_, text)| text)
    }

    /// The certificate authorities that the operator trusts beside the public ones, each a certificate in DER: for a
    /// household with an authority of its own. Usually there are none.
    ///
    /// # Errors
    /// [`BrokerFault`] when the host cannot tell.
    pub async fn authorities(&self) -> Result<Vec<Vec<u8>>, BrokerFault> {
        match self.0.ask(BrokerRequest::Authorities).await? {
            BrokerReply::Authorities(authorities) => Ok(authorities),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Http {}
impl Handle for Http {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Http, "");
    type Reach = OffDevice;
    type Power = Reads;
    type Scope = Targets;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}
