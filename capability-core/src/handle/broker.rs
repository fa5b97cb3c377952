//! The one door behind every handle.

use serde::{Deserialize, Serialize};

use super::endpoint::fits;
use super::{
    BrokerFault, Command, CommandEnd, DeviceReadings, EndpointReply, HandleFamily, HandleKind, HttpMethod, Lease,
    Listing, MAX_ENTRY_BYTES, MAX_PATH_BYTES, MAX_WRITE_BYTES, Workdir,
};
use crate::contract::Class;
use crate::future::BoxFuture;
use crate::time::Timestamp;

/// What a handle asks of the host. Plain data, so that it crosses a process boundary unchanged.
///
/// Whatever it names is checked again at the host: a request that did not come through its handle gets no further than one
/// that did.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokerRequest {
    /// The wall clock.
    Now,
    /// When today began, by the clocks where the machine is.
    DayBegan,
    /// Readings of this machine.
    Device,
    /// Append one entry to the subject's journal.
    Append {
        /// The entry, untrusted text.
        text: String,
    },
    /// A connection to the lease's approved target. There is nothing to name.
    Connect,
    /// The certificate authorities that the operator trusts beside the public ones.
    Authorities,
    /// One exchange with a configured service.
    Exchange {
        /// The endpoint kind's name.
        endpoint: String,
        /// Reads or changes.
        method: HttpMethod,
        /// One of the kind's listed paths.
        path: String,
        /// Names and values, not yet encoded.
        query: Vec<(String, String)>,
        /// The JSON text of what is sent along.
        body: Option<Vec<u8>>,
    },
    /// A file of the workspace, opened to be read.
    Open {
        /// Relative to the workspace root.
        path: String,
    },
    /// What stands in a directory of the workspace.
    List {
        /// Relative to the workspace root, or `.` for the root itself.
        path: String,
    },
    /// Put a file of the workspace in place, whole or not at all.
    Write {
        /// Relative to the workspace root.
        path: String,
        /// The whole content.
        content: Vec<u8>,
    },
    /// Remove a file of the workspace.
    Remove {
        /// Relative to the workspace root.
        path: String,
    },
    /// A secret's value.
    Reveal {
        /// The secret kind's name.
        secret: String,
    },
    /// Which directory a command would run in.
    Workdir {
        /// Relative to the workspace root, or `.` for the root itself.
        path: String,
    },
    /// Run a command to its end.
    Run {
        /// Which.
        command: Command,
    },
}

impl core::fmt::Debug for BrokerRequest {
    /// What is asked for, without what is given along.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Now => "Now",
            Self::DayBegan => "DayBegan",
            Self::Device => "Device",
            Self::Append { .. } => "Append",
            Self::Connect => "Connect",
            Self::Authorities => "Authorities",
            Self::Exchange { .. } => "Exchange",
            Self::Open { .. } => "Open",
            Self::List { .. } => "List",
            Self::Write { .. } => "Write",
            Self::Remove { .. } => "Remove",
            Self::Reveal { .. } => "Reveal",
            Self::Workdir { .. } => "Workdir",
            Self::Run { .. } => "Run",
        })
    }
}

impl BrokerRequest {
    /// Whether serving it changes, sends, stores or records anything: refused to a call that nobody has confirmed yet,
    /// whatever its class. A rule may have raised an `automatic` call to a question, and a preview runs before the answer:
    /// it may look at files of the workspace and at this machine, and the rest waits for the body.
    pub(crate) const fn leaves_a_trace(&self) -> bool {
        match self {
            Self::Now
            | Self::DayBegan
            | Self::Device
            | Self::Authorities
            | Self::Open { .. }
            | Self::List { .. }
            | Self::Workdir { .. } => false,
            // A connection and a request are seen at their other end; a revealed secret is recorded.
            Self::Append { .. }
            | Self::Connect
            | Self::Exchange { .. }
            | Self::Write { .. }
            | Self::Remove { .. }
            | Self::Reveal { .. }
            | Self::Run { .. } => true,
        }
    }

    /// Whether what it gives along is within what its handle takes, whoever made it: a request that did not come through
    /// its handle was not measured there.
    pub(crate) fn is_within_caps(&self) -> bool {
        match self {
            Self::Append { text } => text.len() <= MAX_ENTRY_BYTES,
            Self::Exchange { query, body, .. } => fits(query, body.as_deref()),
            Self::Open { path } | Self::List { path } | Self::Remove { path } | Self::Workdir { path } => {
                path.len() <= MAX_PATH_BYTES
            }
            Self::Run { command } => command.fits(),
            Self::Write { path, content } => path.len() <= MAX_PATH_BYTES && content.len() <= MAX_WRITE_BYTES,
            Self::Now | Self::DayBegan | Self::Device | Self::Connect | Self::Authorities | Self::Reveal { .. } => true,
        }
    }

    /// Whether one of an entry's declared handles asks this.
    ///
    /// # Errors
    /// [`BrokerFault::Undeclared`] without such a handle, [`BrokerFault::NotListed`] for an exchange that the endpoint
    /// kind does not list.
    pub(crate) fn is_declared_by(&self, declared: &[HandleKind]) -> Result<(), BrokerFault> {
        let holds = |family, instance: &str| {
            let found = declared.iter().find(|kind| kind.family() == family && kind.instance() == instance);
            found.ok_or(BrokerFault::Undeclared)
        };
        match self {
            Self::Now | Self::DayBegan => holds(HandleFamily::Clock, "").map(drop),
            Self::Device => holds(HandleFamily::Device, "").map(drop),
            Self::Append { .. } => holds(HandleFamily::Journal, "").map(drop),
            Self::Connect | Self::Authorities => holds(HandleFamily::Http, "").map(drop),
            Self::Exchange { endpoint, method, path, .. } => {
                let kind = holds(HandleFamily::Endpoint, endpoint)?;
                if kind.lists(*method, path) { Ok(()) } else { Err(BrokerFault::NotListed) }
            }
            Self::Open { .. } | Self::List { .. } => holds(HandleFamily::Workspace, "").map(drop),
            Self::Write { .. } | Self::Remove { .. } => {
                if holds(HandleFamily::Workspace, "")?.may_change() {
                    Ok(())
                } else {
                    Err(BrokerFault::Undeclared)
                }
            }
            Self::Reveal { secret } => holds(HandleFamily::Secret, secret).map(drop),
            Self::Workdir { .. } | Self::Run { .. } => holds(HandleFamily::Terminal, "").map(drop),
        }
    }
}

/// What the host answers. Plain data but for the one variant that no serialiser takes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokerReply {
    /// The time, or the beginning of the day.
    Now(Timestamp),
    /// The readings.
    Device(Box<DeviceReadings>),
    /// The entry is stored.
    Appended,
    /// The operator's own certificate authorities, each a certificate in DER.
    Authorities(Vec<Vec<u8>>),
    /// What the service answered.
    Exchanged(EndpointReply),
    /// What stands in the directory.
    Listed(Listing),
    /// The file is in place, durably.
    Written,
    /// The file is gone.
    Removed,
    /// Where a command would run.
    Workdir(Workdir),
    /// How a command ended.
    Ran(Box<CommandEnd>),
    /// An open connection, a file, or a pipe that holds a secret. It crosses a process boundary beside the data, not in it.
    #[serde(skip)]
    Descriptor(std::os::fd::OwnedFd),
}

/// Serves the handles of every invocation. The host implements it; a capability never sees it.
pub trait Broker: Send + Sync + 'static {
    /// Whether a capability of this class that holds `kind` can run here. Asked before anything runs: what is not served is
    /// refused at policy with `missing_runtime_binding`. A `local` capability is not served by an endpoint that the
    /// operator did not place on the device.
    fn serves(&self, kind: HandleKind, class: Class) -> bool;

    /// Serves one request under a lease. [`Call::ask`](crate::Call::ask) has made sure that the lease's entry declares the
    /// handle, that the call is confirmed where it must be, and that it has not ended.
    fn serve(&self, lease: &Lease, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>>;
}

#[cfg(test)]
mod tests {
    use super::BrokerRequest;
    use crate::handle::{
        BrokerFault, Clock, Command, Device, Endpoint, EndpointKind, Handle as _, HandleKind, Http, HttpMethod,
        Journal, Read, Reads, Secret, SecretKind, Terminal, Workspace, Write,
    };

    struct Service;
    impl EndpointKind for Service {
        const NAME: &'static str = "service";
        type Power = Reads;
        const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, "/state")];
    }
    struct Token;
    impl SecretKind for Token {
        const NAME: &'static str = "token";
    }

    fn exchange(endpoint: &str, method: HttpMethod, path: &str) -> BrokerRequest {
        let (endpoint, path) = (endpoint.to_owned(), path.to_owned());
        BrokerRequest::Exchange { endpoint, method, path, query: vec![], body: None }
    }

    fn command(timeout_ms: u32) -> Command {
        Command { argv: vec!["true".to_owned()], workdir: ".".to_owned(), environment: vec![], timeout_ms }
    }

    fn every_request() -> Vec<(BrokerRequest, HandleKind)> {
        let path = || "a".to_owned();
        vec![
            (BrokerRequest::Now, Clock::KIND),
            (BrokerRequest::Device, Device::KIND),
            (BrokerRequest::Append { text: String::new() }, Journal::KIND),
            (BrokerRequest::Connect, Http::KIND),
            (exchange("service", HttpMethod::Get, "/state"), Endpoint::<Service>::KIND),
            (BrokerRequest::Open { path: path() }, Workspace::<Read>::KIND),
            (BrokerRequest::List { path: path() }, Workspace::<Read>::KIND),
            (BrokerRequest::Write { path: path(), content: vec![] }, Workspace::<Write>::KIND),
            (BrokerRequest::Remove { path: path() }, Workspace::<Write>::KIND),
            (BrokerRequest::Reveal { secret: "token".to_owned() }, Secret::<Token>::KIND),
            (BrokerRequest::Workdir { path: path() }, Terminal::KIND),
            (BrokerRequest::Run { command: command(1) }, Terminal::KIND),
        ]
    }

    #[test]
    fn only_the_declared_handle_lets_a_request_pass() {
        for (request, own) in every_request() {
            assert_eq!(request.is_declared_by(&[own]), Ok(()), "{request:?}");
            assert_eq!(request.is_declared_by(&[]), Err(BrokerFault::Undeclared), "{request:?}");
            for (_, other) in every_request() {
                let writes = other.may_change() && own.family() == other.family();
                if other != own && !writes {
                    assert_eq!(
                        request.is_declared_by(&[other]),
                        Err(BrokerFault::Undeclared),
                        "{request:?} by {other}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_exchange_is_of_a_listed_method_and_path_of_that_very_service() {
        let declared = [Endpoint::<Service>::KIND];
        for (endpoint, method, path, fault) in [
            ("service", HttpMethod::Post, "/state", BrokerFault::NotListed),
            ("service", HttpMethod::Get, "/state/", BrokerFault::NotListed),
            ("service", HttpMethod::Get, "/state?x", BrokerFault::NotListed),
            ("service", HttpMethod::Get, "/STATE", BrokerFault::NotListed),
            ("service", HttpMethod::Get, "", BrokerFault::NotListed),
            ("other", HttpMethod::Get, "/state", BrokerFault::Undeclared),
            ("", HttpMethod::Get, "/state", BrokerFault::Undeclared),
        ] {
            assert_eq!(exchange(endpoint, method, path).is_declared_by(&declared), Err(fault), "{endpoint} {path}");
        }
        let other = BrokerRequest::Reveal { secret: "other".to_owned() };
        assert_eq!(other.is_declared_by(&[Secret::<Token>::KIND]), Err(BrokerFault::Undeclared));
    }

    #[test]
    fn what_is_given_along_is_measured_whoever_made_the_request() {
        let path = || "a".to_owned();
        let query = |pairs| (0..pairs).map(|_| (String::new(), String::new())).collect::<Vec<_>>();
        let asked = |query, body| {
            let (endpoint, method, path) = ("service".to_owned(), HttpMethod::Get, "/state".to_owned());
            BrokerRequest::Exchange { endpoint, method, path, query, body }
        };
        for (request, _) in every_request() {
            assert!(request.is_within_caps(), "{request:?}");
        }
        for request in [
            BrokerRequest::Append { text: "x".repeat(4097) },
            // Names and values of nothing are something too: each has its marks.
            asked(query(4097), None),
            asked(vec![("q".to_owned(), "x".repeat(8 << 10))], None),
            asked(query(0), Some(vec![b'1'; (256 << 10) + 1])),
            BrokerRequest::Write { path: path(), content: vec![0; (1 << 20) + 1] },
            BrokerRequest::Open { path: "x".repeat(1025) },
            BrokerRequest::Workdir { path: "x".repeat(1025) },
            BrokerRequest::Run { command: command(0) },
            BrokerRequest::Run { command: command(300_001) },
            BrokerRequest::Run { command: Command { argv: vec![], ..command(1) } },
            BrokerRequest::Run { command: Command { argv: vec![String::new(); 257], ..command(1) } },
            BrokerRequest::Run { command: Command { argv: vec!["x".repeat(128 << 10), "y".to_owned()], ..command(1) } },
        ] {
            assert!(!request.is_within_caps(), "{request:?}");
        }
    }

    /// What a preview may do is what can be undone by looking away.
    #[test]
    fn whatever_is_seen_elsewhere_leaves_a_trace() {
        let seen: Vec<_> = every_request().iter().map(|(request, _)| request.leaves_a_trace()).collect();
        assert_eq!(seen, [false, false, true, true, true, false, false, true, true, true, false, true]);
    }

    #[test]
    fn a_request_crosses_as_plain_data_and_shows_nothing_of_itself() {
        for (request, _) in every_request() {
            let text = serde_json::to_string(&request).unwrap();
            let again: BrokerRequest = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&again).unwrap(), text);
            assert!(format!("{request:?}").chars().all(char::is_alphabetic), "{request:?}");
        }
    }
}
