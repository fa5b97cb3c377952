use super::BrokerRequest;
use crate::audit::Receipt;
use crate::handle::{
    AgentRuns, Agents, BrokerFault, Clock, Command, Context, Device, Endpoint, EndpointKind, FileChange, Handle as _,
    HandleKind, Http, HttpMethod, Journal, Letter, Mailer, McpServers, OwnCalls, OwnHistory, Plan, ProviderLink,
    ProviderTool, Read, Reads, Repository, Review, ReviewKind, Reviews, Schedules, Secret, SecretKind, State,
    StateScope, Terminal, TreeMove, Trees, Workspace, Write,
};
use crate::session::SessionId;

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

fn review(about: &str) -> Review {
    Review { kind: ReviewKind::Dependency, about: about.to_owned(), reason: String::new() }
}

fn plan(cron: &str) -> Plan {
    let [cron, zone, capability, arguments] = [cron, "", "", ""].map(str::to_owned);
    Plan { cron, zone, capability, arguments }
}

fn promote(revision: &str) -> TreeMove {
    TreeMove::Promote(revision.to_owned())
}

fn letter(text: &str) -> Letter {
    Letter { to: "a@b".to_owned(), subject: String::new(), text: text.to_owned() }
}

fn command(timeout_ms: u32) -> Command {
    Command { argv: vec!["true".to_owned()], workdir: ".".to_owned(), environment: vec![], timeout_ms, secrets: vec![] }
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
        (BrokerRequest::Declares { name: "fs.read".to_owned(), scope: None }, Context::KIND),
        (BrokerRequest::CallTool { kind: "mcp".to_owned() }, ProviderTool::<McpServers>::KIND),
        (BrokerRequest::ConnectProvider { kind: "mcp".to_owned() }, ProviderLink::<McpServers>::KIND),
        (BrokerRequest::OpenTarget, Workspace::<Read>::KIND),
        (BrokerRequest::PlaceTarget, Workspace::<Read>::KIND),
        (BrokerRequest::Fingerprint { path: path() }, Workspace::<Read>::KIND),
        (BrokerRequest::Change { changes: vec![change("a", 0)] }, Workspace::<Write>::KIND),
        (BrokerRequest::Recall { receipt: Receipt { seq: 1, hash: None } }, OwnHistory::KIND),
        (BrokerRequest::Reflect { wanted: OwnCalls::default() }, OwnHistory::KIND),
        (BrokerRequest::Revised { name: path(), revision: path(), path: path() }, Repository::KIND),
        (BrokerRequest::Kept { scope: StateScope::Core, key: path() }, State::<Read>::KIND),
        (BrokerRequest::Keep { scope: StateScope::Session, key: path(), value: None }, State::<Write>::KIND),
        (BrokerRequest::Review { review: review("") }, Reviews::KIND),
        (BrokerRequest::Foreseen { plan: plan("") }, Schedules::<Read>::KIND),
        (BrokerRequest::Schedules, Schedules::<Read>::KIND),
        (BrokerRequest::Schedule { plan: plan("") }, Schedules::<Write>::KIND),
        (BrokerRequest::Unschedule { number: 1 }, Schedules::<Write>::KIND),
        (BrokerRequest::Sender { to: path() }, Mailer::KIND),
        (BrokerRequest::Send { letter: letter("") }, Mailer::KIND),
        (BrokerRequest::Agent { agent: path() }, Agents::KIND),
        (BrokerRequest::RunAgent { agent: path(), task: String::new() }, Agents::KIND),
        (BrokerRequest::SpawnAgent { agent: path(), task: String::new() }, Agents::KIND),
        (BrokerRequest::AgentRuns, AgentRuns::<Read>::KIND),
        (BrokerRequest::StopAgent { run: SessionId::from_bytes([1; 16]) }, AgentRuns::<Write>::KIND),
        (BrokerRequest::PlanTree { tree: path(), wanted: promote("main") }, Trees::KIND),
        (BrokerRequest::MoveTree { tree: path(), wanted: TreeMove::Rollback(None) }, Trees::KIND),
        (BrokerRequest::Workdir { path: path() }, Terminal::KIND),
        (BrokerRequest::Run { command: command(1) }, Terminal::KIND),
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
                assert_eq!(request.is_declared_by(&[other]), Err(BrokerFault::Undeclared), "{request:?} by {other}");
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
        BrokerRequest::Reflect { wanted: OwnCalls { most: 51, ..OwnCalls::default() } },
        BrokerRequest::Kept { scope: StateScope::Core, key: "x".repeat(65) },
        BrokerRequest::Keep { scope: StateScope::Core, key: path(), value: Some("x".repeat((16 << 10) + 1)) },
        BrokerRequest::Review { review: review(&"x".repeat(513)) },
        BrokerRequest::Schedule { plan: plan(&"x".repeat(129)) },
        BrokerRequest::Sender { to: "x".repeat(255) },
        BrokerRequest::Send { letter: letter(&"x".repeat((128 << 10) + 1)) },
        BrokerRequest::RunAgent { agent: path(), task: "x".repeat((32 << 10) + 1) },
        BrokerRequest::SpawnAgent { agent: "..".to_owned(), task: String::new() },
        BrokerRequest::PlanTree { tree: path(), wanted: promote(&"x".repeat(257)) },
        BrokerRequest::MoveTree { tree: "A".to_owned(), wanted: promote("main") },
        BrokerRequest::Revised { name: path(), revision: "x".repeat(257), path: path() },
        BrokerRequest::Revised { name: "..".to_owned(), revision: path(), path: path() },
        BrokerRequest::Workdir { path: "x".repeat(1025) },
        BrokerRequest::Run { command: command(0) },
        BrokerRequest::Run { command: command(300_001) },
        BrokerRequest::Run { command: Command { argv: vec![], ..command(1) } },
        BrokerRequest::Run { command: Command { argv: vec![String::new(); 257], ..command(1) } },
        BrokerRequest::Run { command: Command { argv: vec!["x".repeat(128 << 10), "y".to_owned()], ..command(1) } },
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
            false, false, true, true, true, false, false, true, true, true, false, true, true, true, false, false,
            true, true, true, false, false, true, true, false, false, true, true, false, true, false, true, true,
            false, true, false, true, false, true
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
