//! The one door behind every handle.

use serde::{Deserialize, Serialize};

use super::endpoint::fits;
use super::names::{is_protected_path, is_sensitive_path};
use super::{
    BrokerFault, Command, CommandEnd, DeviceReadings, EndpointReply, FileChange, Fingerprint, HandleFamily, HandleKind,
    HttpMethod, Lease, Listing, MAX_CHANGES, MAX_ENTRY_BYTES, MAX_OWN_CALLS, MAX_PATH_BYTES, MAX_WRITE_BYTES, OwnCall,
    OwnCalls, OwnResult, ProviderConnected, TargetPlace, ToolReply, Workdir,
};
use crate::audit::Receipt;
use crate::contract::{Class, MAX_NAME_BYTES};
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
    /// An earlier result of the lease's own session.
    Recall {
        /// What it came with.
        receipt: Receipt,
    },
    /// What the lease's own subject asked for, and what became of it.
    Reflect {
        /// Which calls.
        wanted: OwnCalls,
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
        /// Whether a file with a second name is refused.
        sole: bool,
    },
    /// The lease's approved target, a path from the root of the file system, opened to be read. There is nothing to name.
    OpenTarget,
    /// Where the lease's target is. Nothing of its content is told.
    PlaceTarget,
    /// The hash of a file of the workspace, or that there is none.
    Fingerprint {
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
    /// Change files of the workspace, all or none.
    Change {
        /// Each of them once.
        changes: Vec<FileChange>,
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
    /// Whether the call's subject declares something; answered from the lease.
    Declares {
        /// A capability's name.
        name: String,
        /// Its scope.
        scope: Option<String>,
    },
    /// A call of the tool that the lease's decision names, with the arguments that were judged. There is nothing to name.
    CallTool {
        /// The kind of provider, as the handle has it.
        kind: String,
    },
    /// A connection to the provider that the lease's target names.
    ConnectProvider {
        /// The kind of provider, as the handle has it.
        kind: String,
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
            Self::Recall { .. } => "Recall",
            Self::Reflect { .. } => "Reflect",
            Self::Connect => "Connect",
            Self::Authorities => "Authorities",
            Self::Exchange { .. } => "Exchange",
            Self::Open { .. } => "Open",
            Self::OpenTarget => "OpenTarget",
            Self::PlaceTarget => "PlaceTarget",
            Self::Fingerprint { .. } => "Fingerprint",
            Self::List { .. } => "List",
            Self::Write { .. } => "Write",
            Self::Remove { .. } => "Remove",
            Self::Change { .. } => "Change",
            Self::Reveal { .. } => "Reveal",
            Self::Workdir { .. } => "Workdir",
            Self::Run { .. } => "Run",
            Self::Declares { .. } => "Declares",
            Self::CallTool { .. } => "CallTool",
            Self::ConnectProvider { .. } => "ConnectProvider",
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
            | Self::PlaceTarget
            | Self::Fingerprint { .. }
            | Self::List { .. }
            | Self::Workdir { .. }
            | Self::Declares { .. } => false,
            // A connection and a request are seen at their other end; a revealed secret is recorded.
            Self::Append { .. }
            // A question stands on what it shows, not on what was seen before.
            | Self::Recall { .. }
            | Self::Reflect { .. }
            | Self::Connect
            | Self::Exchange { .. }
            | Self::OpenTarget
            | Self::Write { .. }
            | Self::Remove { .. }
            | Self::Change { .. }
            | Self::Reveal { .. }
            | Self::CallTool { .. }
            | Self::Run { .. }
            | Self::ConnectProvider { .. } => true,
        }
    }

    /// Whether it may be asked for these paths: by what they are called, by the call's target, and by whether a person answered
    /// the call.
    ///
    /// # Errors
    /// [`BrokerFault::Protected`], [`BrokerFault::Sensitive`] and [`BrokerFault::Unanswered`], and which one.
    pub(crate) fn is_for_its_paths(
        &self,
        declared: &[HandleKind],
        target: Option<&str>,
        answered: bool,
    ) -> Result<(), BrokerFault> {
        let read = |path: &String| {
            let asked = answered && target == Some(path);
            if is_sensitive_path(path) && !asked { Err(BrokerFault::Sensitive) } else { Ok(()) }
        };
        let changed = |path: &String| if is_protected_path(path) { Err(BrokerFault::Protected) } else { read(path) };
        match self {
            Self::Open { path, .. } => read(path),
            // Whoever has the hash of a short secret can find the secret. What changes a file is answered afresh before it
            // tells anybody anything, and its preview rests on what is there.
            Self::Fingerprint { path } if declared.iter().any(HandleKind::may_change) && target == Some(path) => Ok(()),
            Self::Fingerprint { path } => read(path),
            Self::OpenTarget if answered && target.is_some() => Ok(()),
            Self::OpenTarget => Err(BrokerFault::Unanswered),
            Self::Write { path, .. } | Self::Remove { path } => changed(path),
            Self::Change { changes } => changes.iter().try_for_each(|change| changed(&change.path)),
            _ => Ok(()),
        }
    }

    /// The paths of the workspace that it names.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        let (one, several) = match self {
            Self::Open { path, .. }
            | Self::Fingerprint { path }
            | Self::List { path }
            | Self::Write { path, .. }
            | Self::Remove { path } => (Some(path), &[][..]),
            Self::Change { changes } => (None, changes.as_slice()),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().map(|change| &change.path)).map(String::as_str)
    }

    /// Whether what it gives along is within what its handle takes, whoever made it: a request that did not come through
    /// its handle was not measured there.
    pub(crate) fn is_within_caps(&self) -> bool {
        match self {
            Self::Append { text } => text.len() <= MAX_ENTRY_BYTES,
            Self::Reflect { wanted } => {
                wanted.most <= MAX_OWN_CALLS
                    && wanted.capability.as_ref().is_none_or(|name| name.len() <= MAX_NAME_BYTES)
            }
            Self::Exchange { query, body, .. } => fits(query, body.as_deref()),
            Self::Open { path, .. }
            | Self::List { path }
            | Self::Remove { path }
            | Self::Fingerprint { path }
            | Self::Workdir { path } => path.len() <= MAX_PATH_BYTES,
            Self::Run { command } => command.fits(),
            Self::Write { path, content } => path.len() <= MAX_PATH_BYTES && content.len() <= MAX_WRITE_BYTES,
            Self::Declares { name, scope } => {
                name.len() <= MAX_NAME_BYTES && scope.as_ref().is_none_or(|scope| scope.len() <= MAX_PATH_BYTES)
            }
            Self::Change { changes } => {
                let short = changes.iter().all(|change| change.path.len() <= MAX_PATH_BYTES);
                let bytes = changes.iter().filter_map(|change| change.content.as_ref()).map(Vec::len).sum::<usize>();
                short && changes.len() <= MAX_CHANGES && bytes <= MAX_WRITE_BYTES
            }
            Self::Now
            | Self::DayBegan
            | Self::Device
            | Self::Connect
            | Self::Authorities
            | Self::OpenTarget
            | Self::PlaceTarget
            | Self::Recall { .. }
            | Self::Reveal { .. }
            | Self::CallTool { .. }
            | Self::ConnectProvider { .. } => true,
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
            Self::Recall { .. } | Self::Reflect { .. } => holds(HandleFamily::OwnHistory, "").map(drop),
            Self::Connect | Self::Authorities => holds(HandleFamily::Http, "").map(drop),
            Self::Exchange { endpoint, method, path, .. } => {
                let kind = holds(HandleFamily::Endpoint, endpoint)?;
                if kind.lists(*method, path) { Ok(()) } else { Err(BrokerFault::NotListed) }
            }
            Self::Open { .. } | Self::OpenTarget | Self::PlaceTarget | Self::Fingerprint { .. } | Self::List { .. } => {
                holds(HandleFamily::Workspace, "").map(drop)
            }
            Self::Write { .. } | Self::Remove { .. } | Self::Change { .. } => {
                if holds(HandleFamily::Workspace, "")?.may_change() { Ok(()) } else { Err(BrokerFault::Undeclared) }
            }
            Self::Reveal { secret } => holds(HandleFamily::Secret, secret).map(drop),
            Self::Workdir { .. } | Self::Run { .. } => holds(HandleFamily::Terminal, "").map(drop),
            Self::Declares { .. } => holds(HandleFamily::Context, "").map(drop),
            Self::CallTool { kind } => holds(HandleFamily::ProviderTool, kind).map(drop),
            Self::ConnectProvider { kind } => holds(HandleFamily::ProviderLink, kind).map(drop),
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
    /// The earlier result, where there is one.
    Recalled(Option<Box<OwnResult>>),
    /// The calls, the newest first.
    Reflected(Vec<OwnCall>),
    /// The operator's own certificate authorities, each a certificate in DER.
    Authorities(Vec<Vec<u8>>),
    /// What the service answered.
    Exchanged(EndpointReply),
    /// What stands in the directory.
    Listed(Listing),
    /// Where the target is.
    Placed(TargetPlace),
    /// The file's hash; none when there is no file.
    Fingerprint(Option<Fingerprint>),
    /// The files are as they were to be, durably.
    Changed,
    /// The file is in place, durably.
    Written,
    /// The file is gone.
    Removed,
    /// Where a command would run.
    Workdir(Workdir),
    /// How a command ended.
    Ran(Box<CommandEnd>),
    /// Whether it is declared.
    Declares(bool),
    /// What the tool answered.
    Called(Box<ToolReply>),
    /// What the provider has.
    Connected(ProviderConnected),
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
    use crate::audit::Receipt;
    use crate::handle::{
        BrokerFault, Clock, Command, Context, Device, Endpoint, EndpointKind, FileChange, Handle as _, HandleKind,
        Http, HttpMethod, Journal, McpServers, OwnCalls, OwnHistory, ProviderLink, ProviderTool, Read, Reads, Secret,
        SecretKind, Terminal, Workspace, Write,
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
            (BrokerRequest::Open { path: path(), sole: false }, Workspace::<Read>::KIND),
            (BrokerRequest::List { path: path() }, Workspace::<Read>::KIND),
            (BrokerRequest::Write { path: path(), content: vec![] }, Workspace::<Write>::KIND),
            (BrokerRequest::Remove { path: path() }, Workspace::<Write>::KIND),
            (BrokerRequest::Reveal { secret: "token".to_owned() }, Secret::<Token>::KIND),
            (BrokerRequest::Workdir { path: path() }, Terminal::KIND),
            (BrokerRequest::Run { command: command(1) }, Terminal::KIND),
            (BrokerRequest::Declares { name: "fs.read".to_owned(), scope: None }, Context::KIND),
            (BrokerRequest::CallTool { kind: "mcp".to_owned() }, ProviderTool::<McpServers>::KIND),
            (BrokerRequest::ConnectProvider { kind: "mcp".to_owned() }, ProviderLink::<McpServers>::KIND),
            (BrokerRequest::OpenTarget, Workspace::<Read>::KIND),
            (BrokerRequest::PlaceTarget, Workspace::<Read>::KIND),
            (BrokerRequest::Fingerprint { path: path() }, Workspace::<Read>::KIND),
            (BrokerRequest::Change { changes: vec![change("a", 0)] }, Workspace::<Write>::KIND),
            (BrokerRequest::Recall { receipt: Receipt { seq: 1, hash: None } }, OwnHistory::KIND),
            (BrokerRequest::Reflect { wanted: OwnCalls::default() }, OwnHistory::KIND),
        ]
    }

    fn change(path: &str, bytes: usize) -> FileChange {
        FileChange { path: path.to_owned(), before: None, content: Some(vec![0; bytes]) }
    }

    #[test]
    fn what_is_secret_is_read_and_what_is_protected_is_changed_for_nobody_who_was_not_asked_for_it() {
        let of = |path: &str| -> [BrokerRequest; 4] {
            let named = || path.to_owned();
            [
                BrokerRequest::Open { path: named(), sole: false },
                BrokerRequest::Write { path: named(), content: vec![] },
                BrokerRequest::Remove { path: named() },
                BrokerRequest::Change { changes: vec![change("a", 0), change(path, 0)] },
            ]
        };
        let (reads, changes) = ([Workspace::<Read>::KIND], [Workspace::<Write>::KIND]);
        let said =
            |path: &str, target, answered| of(path).map(|request| request.is_for_its_paths(&changes, target, answered));
        let (clear, secret) = (Ok(()), Err(BrokerFault::Sensitive));
        assert_eq!(said("a/b", None, false), [clear; 4]);
        assert_eq!(said("a/.ENV", None, false), [secret; 4]);
        assert_eq!(said("a/.ENV", Some("a/.ENV"), false), [secret; 4], "nobody answered");
        assert_eq!(said("a/.ENV", Some("a/.env"), true), [secret; 4], "another path is another file");
        assert_eq!(said("a/.ENV", Some("a/.ENV"), true), [clear; 4]);
        let protected = Err(BrokerFault::Protected);
        assert_eq!(said(".Git/config", Some(".Git/config"), true), [clear, protected, protected, protected]);
        assert_eq!(said(".ssh/x", Some(".ssh/x"), true), [clear, protected, protected, protected]);
        for (target, answered, expected) in [
            (None, true, Err(BrokerFault::Unanswered)),
            (Some("/x"), false, Err(BrokerFault::Unanswered)),
            (Some("/x"), true, clear),
        ] {
            assert_eq!(BrokerRequest::OpenTarget.is_for_its_paths(&reads, target, answered), expected);
        }
        // The hash of a secret is told to what changes that very file, and to a call that was answered for it.
        let hash = BrokerRequest::Fingerprint { path: ".env".to_owned() };
        assert_eq!(hash.is_for_its_paths(&changes, Some(".env"), false), clear);
        assert_eq!(hash.is_for_its_paths(&changes, Some("x"), false), secret);
        assert_eq!(hash.is_for_its_paths(&reads, Some(".env"), false), secret);
        assert_eq!(hash.is_for_its_paths(&reads, Some(".env"), true), clear);
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
            BrokerRequest::Workdir { path: "x".repeat(1025) },
            BrokerRequest::Run { command: command(0) },
            BrokerRequest::Run { command: command(300_001) },
            BrokerRequest::Run { command: Command { argv: vec![], ..command(1) } },
            BrokerRequest::Run { command: Command { argv: vec![String::new(); 257], ..command(1) } },
            BrokerRequest::Run { command: Command { argv: vec!["x".repeat(128 << 10), "y".to_owned()], ..command(1) } },
            BrokerRequest::Reflect { wanted: OwnCalls { most: 51, ..OwnCalls::default() } },
            BrokerRequest::Open { path: "x".repeat(1025), sole: true },
            BrokerRequest::Fingerprint { path: "x".repeat(1025) },
            BrokerRequest::Change { changes: vec![change("x", (1 << 20) + 1)] },
            BrokerRequest::Change { changes: vec![change("x", 1 << 19), change("y", (1 << 19) + 1)] },
            BrokerRequest::Change { changes: (0..65).map(|_| change("x", 0)).collect() },
        ] {
            assert!(!request.is_within_caps(), "{request:?}");
        }
    }

    /// What a preview may do is what can be undone by looking away.
    #[test]
    fn whatever_is_seen_elsewhere_leaves_a_trace() {
        let seen: Vec<_> = every_request().iter().map(|(request, _)| request.leaves_a_trace()).collect();
        assert_eq!(
            seen,
            [
                false, false, true, true, true, false, false, true, true, true, false, true, false, true, true, true,
                false, false, true, true, true
            ]
        );
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
