//! One configured service.

use std::path::PathBuf;

use capability_core::contract::Network;

use crate::broker::http::{Place, Scheme};

/// A service as the operator configured it, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSettings {
    /// In the clear or over TLS.
    pub scheme: Scheme,
    /// Host and port.
    pub place: Place,
    /// What every path is appended to: empty, or `/` and plain segments.
    pub base: String,
    /// Whether what it reaches is on the device.
    pub reach: Reach,
    /// The authorities that its certificate may come from, instead of the public ones.
    pub ca_file: Option<PathBuf>,
    /// The name its certificate is for, when that is not the host's.
    pub server_name: Option<String>,
    /// How it is told who asks.
    pub auth: Auth,
}

/// Where a service is, by the operator's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// On this device, or as good as: `local` capabilities may use it.
    Device,
    /// Anywhere else.
    #[default]
    External,
}

impl Reach {
    /// The word in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::External => "external",
        }
    }

    /// Whether a capability of that network class may be served.
    pub const fn serves(self, network: Network) -> bool {
        match (self, network) {
            (Self::Device, _) | (Self::External, Network::External) => true,
            (Self::External, Network::Local) => false,
        }
    }
}

/// How a service is told who asks. The files are read when they are needed, so that what is written into them later counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// Not at all.
    None,
    /// By a bearer token with every request.
    Bearer {
        /// The file that holds it.
        token_file: PathBuf,
    },
    /// By a session of a Pi-hole, opened with its password.
    Pihole {
        /// The file that holds it.
        password_file: PathBuf,
    },
}

impl Auth {
    /// The file whose content nobody else may read.
    #[must_use]
    pub fn file(&self) -> Option<&std::path::Path> {
        match self {
            Self::None => None,
            Self::Bearer { token_file: file } | Self::Pihole { password_file: file } => Some(file),
        }
    }
}

impl EndpointSettings {
    /// The address that it was configured with.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        format!("{scheme}://{}{}", self.place, self.base)
    }

    /// Whether a credential would be sent without encryption to another machine.
    #[must_use]
    pub fn tells_its_credential(&self) -> bool {
        self.scheme == Scheme::Http && self.auth != Auth::None && !self.is_near()
    }

    /// Whether it is on this very machine.
    #[must_use]
    pub fn is_near(&self) -> bool {
        match &self.place.host {
            crate::broker::http::Host::Address(address) => address.is_loopback(),
            crate::broker::http::Host::Name(name) => name == "localhost",
        }
    }
}
