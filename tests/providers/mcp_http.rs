//! Servers over HTTP: what they are spoken to in, for whom, and what becomes of it when they go away.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use capability_core::Code;
use capability_core::approval::Operator;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::{Effect, Outcome, Proposal};
use capability_core::handle::BrokerFault;
use capability_core::provider::{ProviderReach, Standing};
use capability_core::session::{Session, Subject};
use serde_json::json;

use crate::mcp_calls::text;
use crate::mcp_lab::{Lab, notes, target};

/// A server at a port of this machine, and that port.
pub struct WebServer(Child, u16);

impl WebServer {
    /// Of this script, which prints its port.
    pub fn start(script: &str, arguments: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/providers").join(script);
        let mut child = Command::new(target().join("python/bin/python"))
            .arg(script)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child, line.trim().parse().unwrap())
    }

    /// Ours, at this port or at any; see the script for what it is told.
    fn ours(port: u16, notes: &Path, told: &[&str]) -> Self {
        Self::start("weblab.py", &[&[&*port.to_string(), notes.to_str().unwrap()], told].concat())
    }

    /// The table of it in a configuration.
    pub fn config(&self, more: &str) -> String {
        format!("[mcp.servers.lab]\nurl = \"http://127.0.0.1:{}/mcp\"\ndiscovery_s = 50\n{more}", self.1)
    }

    /// Ends, and comes again at the same port, told this.
    fn again(mut self, notes: &Path, told: &[&str]) -> Self {
        self.end();
        Self::ours(self.1, notes, told)
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.end();
    }
}

const REVISIONS: [&str; 5] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

async fn gone(lab: &Lab) {
    lab.until("its end", |lab| matches!(lab.reach("lab"), ProviderReach::Offline(_)).then_some(())).await;
}

/// Asks for the call, and has an operator say yes before the server is what it is by then.
async fn approved(lab: &Lab, operator: &Operator, session: &Session) -> capability_core::approval::ApprovalId {
    let id = lab.ask(session, "alpha", json!({})).await.approval().unwrap();
    lab.approve(operator, id).await;
    id
}

/// Each revision of the older generation is spoken in its own name, and the greeting in none: this server refuses any other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_spoken_to_in_the_revision_that_it_agreed_upon() {
    let dir = tempfile::tempdir().unwrap();
    for revision in REVISIONS {
        let file = dir.path().join(revision);
        let web = WebServer::ours(0, &file, &[&format!("revision={revision}"), "strict=yes"]);
        let lab = Lab::new(&web.config(""));
        let operator = lab.operator().await;
        lab.connect("lab").await.unwrap_or_else(|why| panic!("{revision}: {why:?} {:?}", lab.reach("lab")));
        let outcome = lab.call(&operator, "alpha", json!({})).await;
        assert!(text(&outcome).starts_with("anybody"), "{revision}: {outcome:?} {:?}", outcome.message());
        assert_eq!(notes(&file), ["greeted anybody", "called anybody"], "{revision}");
    }
}

/// With nobody calling: it is offline, nobody is asked about what cannot run, and when it is there again it is called again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_over_http_that_goes_away_is_offline_until_it_is_there_again() {
    let dir = tempfile::tempdir().unwrap();
    for revision in [REVISIONS[0], REVISIONS[2]] {
        let file = dir.path().join(revision);
        let told = [&*format!("revision={revision}"), "strict=yes"];
        let mut web = WebServer::ours(0, &file, &told);
        let lab = Lab::new(&web.config("check_s = 1\n"));
        let operator = lab.operator().await;
        lab.connect("lab").await.unwrap();
        assert_eq!(lab.reach("lab"), ProviderReach::Ready, "{revision}");
        web.end();
        gone(&lab).await;
        let outcome = lab.ask(&lab.anybody(), "alpha", json!({})).await;
        assert_eq!(
            (outcome.code(), outcome.approval()),
            (Some(Code::ProviderOffline), None),
            "{revision}: {outcome:?}"
        );
        assert_eq!(lab.tools("lab").len(), 1, "{revision}: it stays in sight");
        assert_eq!(lab.connect("lab").await, Err(BrokerFault::Unavailable), "{revision}");
        let _web = web.again(&file, &told);
        assert_eq!(lab.connect("lab").await.map(|connected| connected.tools), Ok(1), "{revision}");
        assert_eq!(lab.reach("lab"), ProviderReach::Ready, "{revision}");
        assert_eq!(lab.call(&operator, "alpha", json!({})).await.kind(), Kind::Executed, "{revision}");
    }
}

/// A call that finds nobody tells so, and who asks next is told before anybody is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_finds_nobody_tells_that_the_server_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes");
    let mut web = WebServer::ours(0, &file, &["revision=2026-07-28"]);
    let lab = Lab::new(&web.config(""));
    let operator = lab.operator().await;
    lab.connect("lab").await.unwrap();
    let session = lab.anybody();
    let id = approved(&lab, &operator, &session).await;
    web.end();
    let outcome = lab.host().executor().resume(&session, id).await;
    assert_eq!(outcome.kind(), Kind::Failed, "{outcome:?}");
    gone(&lab).await;
    assert_eq!(lab.ask(&session, "alpha", json!({})).await.code(), Some(Code::ProviderOffline));
}

/// A server that was started anew knows no session of ours: another one is opened and the call that was approved runs, once. Where
/// it does not say what is wrong, the next call runs. What is another tool by then is not called.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_the_server_forgot_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    for (strict, says, runs) in
        [("yes", "does alpha", true), ("yes", "does something else", false), ("vague", "does alpha", false)]
    {
        let file = dir.path().join(format!("{strict}-{runs}"));
        let (strict, says) = (format!("strict={strict}"), format!("says={says}"));
        let web = WebServer::ours(0, &file, &["revision=2025-06-18", &strict]);
        let lab = Lab::new(&web.config(""));
        let operator = lab.operator().await;
        lab.connect("lab").await.unwrap();
        let session = lab.anybody();
        let id = approved(&lab, &operator, &session).await;
        let _web = web.again(&file, &["revision=2025-06-18", &strict, &says]);
        let outcome = lab.host().executor().resume(&session, id).await;
        let called = || notes(&file).iter().filter(|note| note.starts_with("called")).count();
        assert_eq!(
            (outcome.kind() == Kind::Executed, called()),
            (runs, usize::from(runs)),
            "{strict} {says}: {outcome:?}"
        );
        if says.ends_with("else") {
            assert_eq!(lab.tools("lab")[0].1, Standing::Changed);
            continue;
        }
        lab.until("its list", |lab| (lab.reach("lab") == ProviderReach::Ready).then_some(())).await;
        let outcome = lab.call(&operator, "alpha", json!({})).await;
        assert_eq!(outcome.kind(), Kind::Executed, "{strict}: {outcome:?} {:?}", outcome.message());
    }
}

async fn as_subject(
    lab: &Lab,
    operator: &Operator,
    subject: &str,
    name: &str,
    arguments: serde_json::Value,
) -> Outcome {
    let session = lab.session(subject, &["mcp.call:*", "mcp.connect:*"]);
    let asked = lab.host().executor().invoke(&session, Proposal::new(name, 1, arguments.to_string())).await;
    let Some(id) = asked.approval() else { return asked };
    lab.approve(operator, id).await;
    lab.host().executor().resume(&session, id).await
}

/// Where there is no token for everybody, whoever has it connect is who it is greeted for. In the older generation each owner of
/// a token has a session of its own: this server refuses a session with another's token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_ones_own_is_enough_and_nobody_elses_session_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let tokens = "tokens=token-of-anna:anna,token-of-ben:ben,token-of-all:all";
    for revision in [REVISIONS[0], REVISIONS[1]] {
        let file = dir.path().join(revision);
        let web = WebServer::ours(0, &file, &[&format!("revision={revision}"), "strict=yes", tokens]);
        let lab = Lab::new(&web.config(""));
        let operator = lab.operator().await;
        let of = |name: &str| format!("agent:{name}").parse::<Subject>().unwrap();
        let keep = async |name: &str| {
            let token = format!("token-of-{name}");
            lab.host().set_provider_token(&operator, "lab", Some(&of(name)), Some(&token)).await.unwrap();
        };
        let call = async |name: &str| {
            let envelope = json!({ "server": "lab", "tool": "alpha", "arguments": {} });
            as_subject(&lab, &operator, &format!("agent:{name}"), "mcp.call", envelope).await
        };
        keep("anna").await;
        let connected = as_subject(&lab, &operator, "agent:anna", "mcp.connect", json!({ "server": "lab" })).await;
        assert_eq!(connected.kind(), Kind::Executed, "{revision}: {connected:?} {:?}", connected.message());
        assert!(text(&call("anna").await).starts_with("anna "), "{revision}");
        // Whoever has none is refused by the server, and disturbs nobody.
        let refused = call("ben").await;
        assert!(refused.message().unwrap().starts_with(BrokerFault::CredentialRefused.as_str()), "{refused:?}");
        keep("ben").await;
        assert!(text(&call("ben").await).starts_with("ben "), "{revision}");
        assert!(text(&call("anna").await).starts_with("anna "), "{revision}");
        // Whatever it was given it tells nobody, in no form.
        let said = text(&call("anna").await);
        assert!(said.contains("[redacted]") && !said.contains("token-of") && !said.contains("dG9rZW4tb2"), "{said}");
        lab.host().set_provider_token(&operator, "lab", None, Some("token-of-all")).await.unwrap();
        assert!(text(&call("cleo").await).starts_with("all "), "{revision}");
        let greeted: Vec<_> = notes(&file).into_iter().filter(|note| note.starts_with("greeted")).collect();
        let each = ["greeted anna", "greeted ben", "greeted all"];
        assert_eq!(greeted, if revision == REVISIONS[0] { &each[..1] } else { &each[..] }, "{revision}");
    }
}

/// A server that writes its token into a description puts it nowhere: not before people, not into the store, not into a decision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_was_given_is_in_no_description() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes");
    let web = WebServer::ours(0, &file, &["tokens=token-of-all-x:all", "says=with {token}, that is {encoded}"]);
    let lab = Lab::new(&web.config(""));
    let operator = lab.operator().await;
    lab.host().set_provider_token(&operator, "lab", None, Some("token-of-all-x")).await.unwrap();
    lab.connect("lab").await.unwrap();
    let told = lab.host().providers().tools("lab").unwrap();
    assert!(told[0].description.starts_with("with [redacted], that is [redacted]"), "{}", told[0].description);
    lab.host().close().await;
    for file in ["state.db", "state.db-wal"] {
        let bytes = std::fs::read(lab.data().join(file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("token-of-all") && !text.contains("dG9rZW4tb2YtYWxs"), "{file}");
    }
}

/// The call was made, and its answer is there to be had: it is asked for where the server marked that it broke off, by the older
/// generation alone. Where there is no rest, nobody knows what became of the call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_broken_off_is_read_to_its_end_or_given_up() {
    let dir = tempfile::tempdir().unwrap();
    for (revision, breaks, kind, rests) in [
        (REVISIONS[1], "3", Kind::Executed, &["rest 1", "rest 2", "rest 3"][..]),
        (REVISIONS[2], "gone", Kind::Failed, &["rest 1"]),
        (REVISIONS[0], "3", Kind::Failed, &[]),
    ] {
        let file = dir.path().join(format!("{revision}-{breaks}"));
        let told = [&*format!("revision={revision}"), "strict=yes", &*format!("breaks={breaks}")];
        let web = WebServer::ours(0, &file, &told);
        let lab = Lab::new(&web.config(""));
        let operator = lab.operator().await;
        lab.connect("lab").await.unwrap();
        let outcome = lab.call(&operator, "alpha", json!({})).await;
        assert_eq!(outcome.kind(), kind, "{revision}: {outcome:?} {:?}", outcome.message());
        if kind == Kind::Executed {
            assert!(text(&outcome).starts_with("anybody"), "{outcome:?}");
        } else {
            assert_eq!(outcome.effect(), Effect::Unknown, "{revision}: {outcome:?}");
        }
        let noted = notes(&file);
        assert_eq!(noted.iter().filter(|note| note.starts_with("called")).count(), 1, "{revision}: made once");
        let asked: Vec<_> = noted.iter().filter(|note| note.starts_with("rest")).collect();
        assert_eq!(asked, rests, "{revision}");
    }
}
