//! Why an exchange did not come about.

use capability_core::Failure;
use capability_core::handle::BrokerFault;

/// Why there is no answer. None of these holds a word of the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpFault {
    /// The host gave no connection, and why.
    Broker(BrokerFault),
    /// The call's target is no address for this client.
    Address,
    /// This runtime has no sockets.
    Runtime,
    /// The operator's own certificate authority is none.
    OwnAuthority,
    /// The server's certificate is not believed.
    Certificate,
    /// TLS did not come about.
    Tls,
    /// The server does not speak HTTP/1.1 as it should, or its headers are above their caps.
    Protocol,
    /// More came in than the cap on the connection allows.
    WireCap,
    /// The connection ended before the answer did.
    CutOff,
    /// The answer is compressed, or coded otherwise, though nobody asked for it.
    Coded,
}

impl HttpFault {
    /// What was wrong and what would be right.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Broker(fault) => fault.as_str(),
            Self::Address => {
                "the address is none that can be fetched\nhelp: write an absolute `http` or `https` address"
            }
            Self::Runtime => "this host runs the capability where there are no sockets\nhelp: tell the operator",
            Self::OwnAuthority => {
                "the operator's own certificate authority cannot be used\nhelp: the operator looks at `ca_file` under `[http]`"
            }
            Self::Certificate => {
                "the server's certificate is not valid for that host, or nobody who is believed vouches for it\nhelp: for an authority of the household's own, the operator names its certificate as `ca_file` under `[http]`"
            }
            Self::Tls => {
                "the server and this host have no TLS in common\nhelp: check whether the address should be `http`"
            }
            Self::Protocol => {
                "the server's answer is no HTTP/1.1, or its headers are above their caps\nhelp: check scheme and port of the address"
            }
            Self::WireCap => "the server sends too much\nhelp: ask for a smaller part, if the server has one",
            Self::CutOff => "the connection ended in the middle of the answer\nhelp: try again later",
            Self::Coded => {
                "the server compresses what it was asked not to\nhelp: nothing can be done here: compressed answers are refused"
            }
        }
    }

    /// The failure whose sentence and help the caller reads.
    #[must_use]
    pub fn public(self) -> Failure {
        Failure::public(self.to_string())
    }
}

impl From<BrokerFault> for HttpFault {
    fn from(fault: BrokerFault) -> Self {
        Self::Broker(fault)
    }
}

impl core::fmt::Display for HttpFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Broker(fault) => fault.fmt(f),
            fault => f.write_str(fault.as_str()),
        }
    }
}

impl core::error::Error for HttpFault {}
