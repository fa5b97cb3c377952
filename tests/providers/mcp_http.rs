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

/// A server of ours that knows anna, ben and everybody by their tokens, a host that is to speak with it, and an operator.
async fn with_tokens(revision: &str, notes: &Path, told: &[&str]) -> (WebServer, Lab, Operator) {
    let tokens = "tokens=token-of-anna:anna,token-of-ben:ben,token-of-all:all";
    let web = WebServer::ours(0, notes, &[&[&*format!("revision={revision}"), "strict=yes", tokens], told].concat());
    let lab = Lab::new(&web.config(""));
    let operator = lab.operator().await;
    (web, lab, operator)
}

async fn keep(lab: &Lab, operator: &Operator, name: &str) {
    let (subject, token) = (format!("agent:{name}").parse::<Subject>().unwrap(), format!("token-of-{name}"));
    lab.host().set_provider_token(operator, "lab", Some(&subject), Some(&token)).await.unwrap();
}

async fn connect_as(lab: &Lab, operator: &Operator, name: &str) -> Outcome {
    as_subject(lab, operator, &format!("agent:{name}"), "mcp.connect", json!({ "server": "lab" })).await
}

async fn call_as(lab: &Lab, operator: &Operator, name: &str, tool: &str) -> Outcome {
    let envelope = json!({ "server": "lab", "tool": tool, "arguments": {} });
    as_subject(lab, operator, &format!("agent:{name}"), "mcp.call", envelope).await
}

/// What somebody is shown of the server: names of tools, and where each stands.
fn shown_to(lab: &Lab, name: &str) -> Vec<(String, String)> {
    let session = lab.session(&format!("agent:{name}"), &["mcp.call:*"]);
    let decisions = lab.host().executor().decisions(&session);
    let own = decisions.iter().filter(|own| own.definition.is_some() && own.is_visible());
    own.map(|own| (own.native_id.to_string(), own.admission_status.as_str().to_owned())).collect()
}

/// Whoever has a token of their own is spoken for by it and by nothing else. In the older generation each has a session of its own:
/// this server refuses a session with another's token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_ones_own_is_enough_and_nobody_elses_session_is_used() {
    let dir = tempfile::tempdir().unwrap();
    for revision in [REVISIONS[0], REVISIONS[1]] {
        let file = dir.path().join(revision);
        let (_web, lab, operator) = with_tokens(revision, &file, &[]).await;
        let is = |outcome: &Outcome, who: &str| assert!(text(outcome).starts_with(who), "{revision}: {outcome:?}");
        keep(&lab, &operator, "anna").await;
        let connected = connect_as(&lab, &operator, "anna").await;
        assert_eq!(connected.kind(), Kind::Executed, "{revision}: {connected:?} {:?}", connected.message());
        is(&call_as(&lab, &operator, "anna", "alpha").await, "anna ");
        // Whoever has none is asked by the server for one, and disturbs nobody.
        let outcome = call_as(&lab, &operator, "ben", "alpha").await;
        assert_eq!((outcome.code(), outcome.approval()), (Some(Code::ProviderOffline), None), "{outcome:?}");
        let refused = connect_as(&lab, &operator, "ben").await;
        assert!(refused.message().unwrap().starts_with(BrokerFault::CredentialRefused.as_str()), "{refused:?}");
        is(&call_as(&lab, &operator, "anna", "alpha").await, "anna ");
        // With one, it is still nobody's connection but the one that was asked for.
        keep(&lab, &operator, "ben").await;
        assert_eq!(call_as(&lab, &operator, "ben", "alpha").await.code(), Some(Code::ProviderOffline), "{revision}");
        assert_eq!(connect_as(&lab, &operator, "ben").await.kind(), Kind::Executed, "{revision}");
        is(&call_as(&lab, &operator, "ben", "alpha").await, "ben ");
        is(&call_as(&lab, &operator, "anna", "alpha").await, "anna ");
        // Whatever it was given it tells nobody, in no form.
        let said = text(&call_as(&lab, &operator, "anna", "alpha").await);
        assert!(said.contains("[redacted]") && !said.contains("token-of") && !said.contains("dG9rZW4tb2"), "{said}");
        lab.host().set_provider_token(&operator, "lab", None, Some("token-of-all")).await.unwrap();
        assert_eq!(connect_as(&lab, &operator, "cleo").await.kind(), Kind::Executed, "{revision}");
        is(&call_as(&lab, &operator, "cleo", "alpha").await, "all ");
        let greeted: Vec<_> = notes(&file).into_iter().filter(|note| note.starts_with("greeted")).collect();
        assert_eq!(greeted, ["greeted anna", "greeted ben", "greeted all"], "{revision}");
    }
}

/// A server shows each token something else, and describes the same tool to each in other words: nobody is shown, or judged by,
/// what another one was told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_lists_for_one_token_is_nobody_elses() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes");
    let (web, mut lab, operator) = with_tokens(REVISIONS[1], &file, &["own=yes", "says=does alpha for {name}"]).await;
    for name in ["anna", "ben"] {
        keep(&lab, &operator, name).await;
    }
    assert_eq!(connect_as(&lab, &operator, "anna").await.kind(), Kind::Executed);
    let has = |lab: &Lab, name: &str, wanted: &[(&str, &str)]| {
        let wanted: Vec<_> = wanted.iter().map(|(tool, is)| ((*tool).to_owned(), (*is).to_owned())).collect();
        assert_eq!(shown_to(lab, name), wanted, "{name}");
    };
    has(&lab, "anna", &[("alpha", "ready"), ("of_anna", "ready")]);
    // Neither whoever has a token nor whoever has none has what anna was shown.
    has(&lab, "ben", &[]);
    has(&lab, "cleo", &[]);
    for name in ["ben", "cleo"] {
        for tool in ["alpha", "of_anna"] {
            let outcome = call_as(&lab, &operator, name, tool).await;
            assert_eq!((outcome.code(), outcome.approval()), (Some(Code::ProviderOffline), None), "{name} {tool}");
        }
    }
    assert_eq!(connect_as(&lab, &operator, "ben").await.kind(), Kind::Executed);
    has(&lab, "ben", &[("alpha", "ready"), ("of_ben", "ready")]);
    has(&lab, "anna", &[("alpha", "ready"), ("of_anna", "ready")]);
    let outcome = call_as(&lab, &operator, "ben", "of_anna").await;
    assert_eq!((outcome.code(), outcome.approval()), (Some(Code::UnknownTool), None), "{outcome:?}");
    assert_eq!(call_as(&lab, &operator, "ben", "of_ben").await.kind(), Kind::Executed);
    // Each is judged by the words that it is shown, and an operator sees both.
    let definition = |lab: &Lab, name: &str| {
        let session = lab.session(&format!("agent:{name}"), &["mcp.call:*"]);
        let decisions = lab.host().executor().decisions(&session);
        decisions.provided(capability_core::provider::ProviderType::Mcp, "lab", "alpha").unwrap().definition.clone()
    };
    assert_eq!(definition(&lab, "ben").unwrap().description, "does alpha for ben");
    assert_eq!(definition(&lab, "anna").unwrap().description, "does alpha for anna");
    let told: Vec<_> = lab.host().providers().tools("lab").unwrap().into_iter().map(|tool| tool.tool).collect();
    assert_eq!(told, ["alpha", "of_anna", "alpha", "of_ben"]);

    // Another host knows of each what each was shown.
    lab.host().close().await;
    lab.open(&web.config(""));
    has(&lab, "anna", &[("alpha", "provider_offline"), ("of_anna", "provider_offline")]);
    has(&lab, "ben", &[("alpha", "provider_offline"), ("of_ben", "provider_offline")]);
    has(&lab, "cleo", &[]);
    // Without its token a subject is one of everybody, who have been shown nothing.
    let operator = lab.host().operators().login("four plain words here", None).await.unwrap().0;
    let ben = "agent:ben".parse::<Subject>().unwrap();
    lab.host().set_provider_token(&operator, "lab", Some(&ben), None).await.unwrap();
    has(&lab, "ben", &[]);
}

/// With another token a server may be another one: nothing that was read with the one before is called.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_another_token_the_list_is_read_again_before_anything_is_called() {
    let dir = tempfile::tempdir().unwrap();
    for revision in [REVISIONS[0], REVISIONS[1]] {
        let file = dir.path().join(revision);
        let (_web, lab, operator) = with_tokens(revision, &file, &["own=yes"]).await;
        lab.host().set_provider_token(&operator, "lab", None, Some("token-of-anna")).await.unwrap();
        lab.connect("lab").await.unwrap();
        let session = lab.anybody();
        let id = lab.ask(&session, "of_anna", json!({})).await.approval().unwrap();
        lab.approve(&operator, id).await;
        lab.host().set_provider_token(&operator, "lab", None, Some("token-of-ben")).await.unwrap();
        let outcome = lab.host().executor().resume(&session, id).await;
        assert_ne!(outcome.kind(), Kind::Executed, "{revision}: {outcome:?}");
        let read = |lab: &Lab| lab.tools("lab").iter().any(|(tool, _)| tool == "of_ben").then_some(());
        lab.until("its list", read).await;
        assert_eq!(lab.ask(&session, "of_anna", json!({})).await.code(), Some(Code::UnknownTool), "{revision}");
        assert_eq!(lab.call(&operator, "of_ben", json!({})).await.kind(), Kind::Executed, "{revision}");
        assert!(!notes(&file).iter().any(|note| note.ends_with("of_anna")), "{revision}: {:?}", notes(&file));
    }
}

/// A subject's own token is taken away, or given, while a call of it waits approved: what was answered was with whose token it goes
/// out, and with the other one nothing does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_for_ones_own_token_is_none_for_everybodys_and_the_other_way_round() {
    let dir = tempfile::tempdir().unwrap();
    for revision in [REVISIONS[0], REVISIONS[1]] {
        let file = dir.path().join(revision);
        let (_web, lab, operator) = with_tokens(revision, &file, &[]).await;
        let anna = "agent:anna".parse::<Subject>().unwrap();
        lab.host().set_provider_token(&operator, "lab", None, Some("token-of-all")).await.unwrap();
        lab.connect("lab").await.unwrap();
        for own_before in [true, false] {
            let give = async |own: bool| {
                let token = own.then_some("token-of-anna");
                lab.host().set_provider_token(&operator, "lab", Some(&anna), token).await.unwrap();
                let connected = connect_as(&lab, &operator, "anna").await;
                assert_eq!(connected.kind(), Kind::Executed, "{revision}: {connected:?} {:?}", connected.message());
            };
            let called = || notes(&file).iter().filter(|note| note.starts_with("called")).count();
            give(own_before).await;
            let session = lab.session("agent:anna", &["mcp.call:*"]);
            let asked = lab.ask(&session, "alpha", json!({})).await;
            let decided = asked.provider().unwrap().clone();
            let id = asked.approval().unwrap();
            let carrier = lab.shown(&operator, id).await.provider.unwrap().to_string();
            let own = "mcp `lab`, with the subject's own credential";
            assert_eq!(carrier, if own_before { own } else { "mcp `lab`" });
            lab.approve(&operator, id).await;
            let before = called();
            give(!own_before).await;
            let outcome = lab.host().executor().resume(&session, id).await;
            assert_eq!(
                (outcome.code(), outcome.effect()),
                (Some(Code::ApprovalMismatch), Effect::NotStarted),
                "{revision} {own_before}: {outcome:?}"
            );
            // Nor is what was decided before sent on with the other one, by a call that was under way already.
            let sent = lab.host().providers().call(&decided, b"{}", session.identity()).await;
            assert_eq!(sent.err(), Some(BrokerFault::AnotherCredential), "{revision} {own_before}");
            assert_eq!(called(), before, "{revision} {own_before}: {:?}", notes(&file));
        }
    }
}

/// A token that changes while a list is read, with the connection or after it: what was read with the one before counts for
/// nothing, and it is read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_was_being_read_with_the_token_before_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    for revision in [REVISIONS[0], REVISIONS[1]] {
        let (file, hold) = (dir.path().join(revision), dir.path().join("hold"));
        let holds = format!("holds={}", hold.display());
        let (_web, lab, operator) = with_tokens(revision, &file, &["own=yes", &holds]).await;
        let token = async |token| lab.host().set_provider_token(&operator, "lab", None, Some(token)).await.unwrap();
        let asked = |name: &str| notes(&file).iter().filter(|note| **note == format!("asked {name}")).count();
        let names = || lab.tools("lab").into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        let changed = async |times: usize| {
            lab.until("its list", |_| (asked("anna") == times).then_some(())).await;
            token("token-of-ben").await;
            std::fs::remove_file(&hold).unwrap();
        };
        std::fs::write(&hold, "").unwrap();
        token("token-of-anna").await;
        let (connected, ()) = tokio::join!(lab.connect("lab"), changed(1));
        assert_eq!((connected.map(|own| own.tools), names()), (Ok(2), named()), "{revision}");
        // Where it stands already.
        let before = asked("ben");
        std::fs::write(&hold, "").unwrap();
        token("token-of-anna").await;
        changed(2).await;
        let again = |lab: &Lab| (asked("ben") > before && lab.reach("lab") == ProviderReach::Ready).then_some(());
        lab.until("its list", again).await;
        assert_eq!(names(), named(), "{revision}");
        assert_eq!(lab.log().matches("definitions_seen").count(), 1, "{revision}: what anna has was never looked at");
        assert_eq!(lab.call(&operator, "of_ben", json!({})).await.kind(), Kind::Executed, "{revision}");
    }

    fn named() -> Vec<String> {
        ["alpha", "of_ben"].map(str::to_owned).to_vec()
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
