//! The one door behind every handle.

use serde::{Deserialize, Serialize};

use super::{DeviceReadings, HandleKind};
use crate::contract::{CapabilityName, TargetKind};
use crate::future::BoxFuture;
use crate::session::SessionIdentity;
use crate::time::Timestamp;

/// For whom a request is made: minted by the executor for one invocation, never by a capability.
#[derive(Debug, Clone)]
pub struct Lease {
    pub(crate) capability: CapabilityName,
    pub(crate) version: core::num::NonZeroU32,
    pub(crate) identity: std::sync::Arc<SessionIdentity>,
    /// What the arguments name as the thing acted on: judged by policy and shown to whoever approves.
    pub(crate) target: Option<(TargetKind, String)>,
}

impl Lease {
    /// The capability that was lent the handle.
    #[must_use]
    pub fn capability(&self) -> CapabilityName {
        self.capability
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> core::num::NonZeroU32 {
        self.version
    }

    /// Who asked.
    #[must_use]
    pub fn identity(&self) -> &SessionIdentity {
        &self.identity
    }

    /// What this very call was judged and approved to act on, when its capability declares a target.
    #[must_use]
    pub fn target(&self) -> Option<(TargetKind, &str)> {
        self.target.as_ref().map(|(kind, text)| (*kind, text.as_str()))
    }
}

/// What a handle asks of the host. Plain data, so that it crosses a process boundary unchanged.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokerRequest {
    /// The wall clock.
    Now,
    /// Readings of this machine.
    Device,
    /// Append one entry to the subject's journal.
    Append {
        /// The entry, untrusted text.
        text: String,
    },
}

impl core::fmt::Debug for BrokerRequest {
    /// What is asked for, without what is given along.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Now => "Now",
            Self::Device => "Device",
            Self::Append { .. } => "Append",
        })
    }
}

impl BrokerRequest {
    /// Whether serving it changes, sends or stores anything: refused to a call that nobody has confirmed yet.
    pub(crate) const fn leaves_a_trace(&self) -> bool {
        match self {
            Self::Now | Self::Device => false,
            Self::Append { .. } => true,
        }
    }
}

/// What the host answers. Plain data but for the one variant that no serialiser takes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokerReply {
    /// The time.
    Now(Timestamp),
    /// The readings.
    Device(Box<DeviceReadings>),
    /// The entry is stored.
    Appended,
    /// An open connection or file. It crosses a process boundary beside the data, not in it.
    #[serde(skip)]
    Descriptor(std::os::fd::OwnedFd),
}

/// Why the host did not serve a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokerFault {
    /// No broker of this host serves that kind.
    Unserved,
    /// The request is above a cap.
    CapExceeded,
    /// The thing behind the broker did not answer.
    Unavailable,
    /// The answer was not of the kind that was asked for.
    WrongReply,
    /// The call is only being prepared: until it is confirmed, its handles only read.
    Unconfirmed,
}

impl BrokerFault {
    /// The sentence a capability's caller may read.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unserved => "this host does not serve that handle",
            Self::CapExceeded => "the request is above the handle's cap",
            Self::Unavailable => "what the handle reaches did not answer",
            Self::WrongReply => "the host answered something else than was asked",
            Self::Unconfirmed => "until the call is confirmed, its handles only read",
        }
    }
}

impl core::fmt::Display for BrokerFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for BrokerFault {}

/// Serves the handles of every invocation. The host implements it; a capability never sees it.
pub trait Broker: Send + Sync + 'static {
    /// Whether a capability that holds `kind` can run here. Asked before anything runs: what is not served is refused at
    /// policy with `missing_runtime_binding`.
    fn serves(&self, kind: HandleKind) -> bool;

    /// Serves one request under a lease.
    fn serve(&self, lease: &Lease, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>>;
}
