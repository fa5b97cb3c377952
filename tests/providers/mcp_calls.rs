//! Calls of foreign tools through a whole host: its executor, its log, its sandbox, and servers as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use capability_core::Code;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::Class;
use capability_core::executor::{Outcome, Proposal};
use capability_core::handle::BrokerFault;
use capability_core::provider::{ProviderReach, Standing};
use serde_json::{Value, json};

use crate::mcp_http::WebServer;
use crate::mcp_lab::{Lab, describe, lab, notes, runs, server};
use crate::mcp_real::{node, python};

pub fn result(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.result().unwrap_or_else(|| panic!("{outcome:?}: {:?}", outcome.message()))).unwrap()
}

pub fn text(outcome: &Outcome) -> String {
    result(outcome)["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// A server of ours with this fault, connected.
async fn connected(fault: &str, more: &str, file: Option<&Path>) -> Lab {
    let lab = Lab::new(&(server("lab", &lab(fault, file)) + "discovery_s = 30\n" + more));
    lab.connect("lab").await.unwrap_or_else(|why| panic!("{fault}: {why:?}"));
    lab
}

/// One program answers for the list and for every call of what is in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_discovered_over_a_connection_is_called_over_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let lab = connected("well", "", Some(file.path())).await;
    let operator = lab.operator().await;
    let mut calls = Vec::new();
    for _ in 0..3 {
        // It counts its own calls.
        let said = text(&lab.call(&operator, "alpha", json!({ "x": 1 })).await);
        calls.push(said.rsplit_once("in call ").unwrap_or_else(|| panic!("{said}")).1.parse::<u32>().unwrap());
    }
    assert_eq!(calls, [calls[0], calls[0] + 1, calls[0] + 2]);
    assert_eq!(fs::read_to_string(file.path()).unwrap().matches("started").count(), 1);
}

/// The whole way, with a server that somebody else wrote: asked before it is started, asked before its tool writes, and what was
/// approved is what is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_writes_waits_for_a_person() {
    let files = tempfile::tempdir().unwrap();
    let program = node("mcp-server-filesystem", &[files.path().to_str().unwrap()]);
    let lab = Lab::new(&(server("lab", &program) + "discovery_s = 50\n"));
    let operator = lab.operator().await;
    let session = lab.anybody();
    let connect = Proposal::new("mcp.connect", 1, r#"{"server":"lab"}"#);
    let asked = lab.host().executor().invoke(&session, connect).await;
    assert_eq!((asked.kind(), lab.reach("lab")), (Kind::Pending, ProviderReach::NotConnected), "{asked:?}");
    lab.approve(&operator, asked.approval().unwrap()).await;
    let outcome = lab.host().executor().resume(&session, asked.approval().unwrap()).await;
    assert!(result(&outcome)["tools"].as_u64().unwrap() >= 10, "{outcome:?}");

    let file = files.path().join("note.txt");
    let arguments = json!({ "path": file, "content": "bread, milk" });
    let asked = lab.ask(&session, "write_file", arguments).await;
    assert_eq!((asked.kind(), file.exists()), (Kind::Pending, false), "{asked:?}");
    let shown = lab.shown(&operator, asked.approval().unwrap()).await;
    assert_eq!((shown.class, shown.because.as_slice()), (Class::STRICTEST, &[Code::FloorRequired][..]));
    lab.approve(&operator, asked.approval().unwrap()).await;
    let outcome = lab.host().executor().resume(&session, asked.approval().unwrap()).await;
    assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?} {:?}", outcome.message());
    assert_eq!(fs::read_to_string(&file).unwrap(), "bread, milk");
    // Only once.
    fs::remove_file(&file).unwrap();
    let again = lab.host().executor().resume(&session, asked.approval().unwrap()).await;
    assert!(again.kind() != Kind::Executed && !file.exists(), "{again:?}");
    let log = lab.log();
    assert!(log.contains("\"provided\"") && !log.contains("write_file") && !log.contains("bread"), "{log}");
}

/// Whoever does not declare the connection can neither start it nor call through it, by whatever name it asks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_declared_is_neither_started_nor_called() {
    let lab = connected("well", "", None).await;
    let operator = lab.operator().await;
    let other = lab.session("agent:other", &["mcp.call:other", "mcp.connect:other"]);
    let asked = lab.ask(&other, "alpha", json!({})).await;
    assert!(asked.kind() == Kind::Rejected && asked.approval().is_none(), "{asked:?}");
    let connect = Proposal::new("mcp.connect", 1, r#"{"server":"lab"}"#);
    let asked = lab.host().executor().invoke(&other, connect).await;
    assert_eq!(asked.code(), Some(Code::Undeclared), "{asked:?}");
    let exact = lab.session("agent:exact", &["mcp.call:lab"]);
    assert_eq!(lab.ask(&exact, "alpha", json!({})).await.kind(), Kind::Pending);
    assert_eq!(text(&lab.call(&operator, "alpha", json!({ "x": 1 })).await), "{\"x\": 1} in call 1");
}

/// Both generations answer calls; what they answer is passed on as data.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_both_generations_are_called() {
    for (program, tool, arguments, said) in [
        (node("mcp-server-everything", &[]), "echo", json!({ "message": "hello" }), "Echo: hello"),
        (python("mcp-server-time"), "get_current_time", json!({ "timezone": "Etc/UTC" }), "Etc/UTC"),
    ] {
        let lab = Lab::new(&(server("lab", &program) + "discovery_s = 50\n"));
        let operator = lab.operator().await;
        lab.connect("lab").await.unwrap();
        let outcome = lab.call(&operator, tool, arguments).await;
        assert!(
            outcome.kind() == Kind::Executed && text(&outcome).contains(said),
            "{outcome:?} {:?}",
            outcome.message()
        );
        // The schema that was pinned is what arguments are held against, before anybody is asked.
        let wrong = lab.ask(&lab.anybody(), tool, json!({ "message": 4, "timezone": 4 })).await;
        assert!(wrong.kind() == Kind::Rejected && wrong.approval().is_none(), "{wrong:?}");
    }
}

/// A repository that somebody else's server reads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_is_read_through_somebody_elses_server() {
    let files = tempfile::tempdir().unwrap();
    let made = Command::new("git").args(["init", "-q"]).arg(files.path()).status().unwrap();
    fs::write(files.path().join("new.txt"), "new").unwrap();
    let lab = Lab::new(&(server("lab", &python("mcp-server-git")) + "discovery_s = 50\n"));
    let operator = lab.operator().await;
    lab.connect("lab").await.unwrap();
    let outcome = lab.call(&operator, "git_status", json!({ "repo_path": files.path() })).await;
    assert!(made.success() && text(&outcome).contains("new.txt"), "{outcome:?} {:?}", outcome.message());
}

/// A server that changes its tool's definition after the first call: what was approved for the old one is void.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_approved_for_another_definition_never_runs() {
    let lab = connected("turns_coat", "", None).await;
    let operator = lab.operator().await;
    let session = lab.anybody();
    let waiting = lab.ask(&session, "alpha", json!({ "x": 2 })).await.approval().unwrap();
    lab.approve(&operator, waiting).await;
    assert_eq!(text(&lab.call(&operator, "alpha", json!({ "x": 1 })).await), "{\"x\": 1} in call 1");
    lab.until("the change", |lab| (lab.tools("lab")[0].1 == Standing::Changed).then_some(())).await;
    let outcome = lab.host().executor().resume(&session, waiting).await;
    assert!(outcome.kind() == Kind::Rejected, "{outcome:?}");
    let outcome = lab.ask(&lab.anybody(), "alpha", json!({ "x": 3 })).await;
    assert_eq!(outcome.code(), Some(Code::ToolQuarantined), "{outcome:?}");
    // Its neighbour goes on.
    assert_eq!(lab.call(&operator, "beta", json!({})).await.kind(), Kind::Executed);
    let change = lab.host().providers().change("lab", "alpha").unwrap();
    lab.host().accept_definition(&operator, "lab", "alpha", change.now.digest()).await.unwrap();
    assert_eq!(lab.call(&operator, "alpha", json!({ "x": 4 })).await.kind(), Kind::Executed);
}

/// Whatever a server does with a call, the call ends with one outcome, and the next one is served or refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_server_does_with_a_call_it_ends() {
    for (fault, told) in [
        ("dies_called", BrokerFault::Unavailable),
        ("cut_short", BrokerFault::Unavailable),
        ("large_answer", BrokerFault::ReplyTooLarge),
        ("huge_answer", BrokerFault::ReplyTooLarge),
        ("twice", BrokerFault::MalformedReply),
    ] {
        let lab = connected(fault, "", None).await;
        let operator = lab.operator().await;
        let outcome = lab.call(&operator, "alpha", json!({})).await;
        let message = outcome.message().unwrap_or_default().into_owned();
        assert!(outcome.kind() == Kind::Failed && message.starts_with(told.as_str()), "{fault}: {outcome:?} {message}");
        if fault.starts_with("dies") || fault.starts_with("cut") {
            lab.until("its end", |lab| matches!(lab.reach("lab"), ProviderReach::Offline(_)).then_some(())).await;
            assert_eq!(lab.call(&operator, "alpha", json!({})).await.code(), Some(Code::ProviderOffline), "{fault}");
        } else {
            assert_eq!(lab.reach("lab"), ProviderReach::Ready, "{fault}");
        }
    }
}

/// A call that is given up is called off at the server, which lives on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_given_up_is_called_off_at_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes");
    let lab = connected("hangs_called", "", Some(&file)).await;
    let operator = lab.operator().await;
    let session = lab.anybody();
    let id = lab.ask(&session, "alpha", json!({})).await.approval().unwrap();
    lab.approve(&operator, id).await;
    {
        let call = lab.host().executor().resume(&session, id);
        let called = lab.until("the call", |_| notes(&file).contains(&"called".to_owned()).then_some(()));
        tokio::select! {
            outcome = call => panic!("{outcome:?}"),
            () = called => {}
        }
    }
    lab.until("the cancellation", |_| notes(&file).contains(&"cancelled".to_owned()).then_some(())).await;
    assert!(lab.reach("lab") == ProviderReach::Ready && runs(file.to_str().unwrap()));
}

/// What the operator gave a server reaches nobody through it: not in answers, not in errors, not in the log, not in what it
/// complains about. What it asks for in return it is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_was_given_stays_there() {
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("token");
    fs::write(&secret, "hunter2-of-the-lab\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let more = format!("secrets = {{ LAB_TOKEN = {:?} }}\n", secret.to_str().unwrap());
    for (fault, said) in
        [("tells", "failed with [redacted]"), ("tells_in_error", "the server refused the call with code -32000")]
    {
        let lab = connected(fault, &more, None).await;
        let operator = lab.operator().await;
        let outcome = lab.call(&operator, "alpha", json!({})).await;
        assert_eq!((text(&outcome).as_str(), &result(&outcome)["is_error"]), (said, &json!(true)), "{fault}");
        assert_eq!(lab.host().providers().said("lab").await.unwrap().trim(), "started with [redacted]");
        assert!(!lab.log().contains("hunter2"), "{fault}");
    }
    let file = dir.path().join("notes");
    let lab = connected("wants", "", Some(&file)).await;
    let operator = lab.operator().await;
    assert_eq!(text(&lab.call(&operator, "alpha", json!({})).await), "asked");
    lab.until("both refusals", |_| (notes(&file).iter().filter(|note| *note == "refused").count() == 2).then_some(()))
        .await;
}

/// A program has nothing of the host's but what it was given: no variable, no descriptor, and not the host's directory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_is_given_nothing_of_the_hosts() {
    let more = "set = { LAB_ROOT = \"/srv\" }\nenv = [\"CARGO_PKG_NAME\", \"NOT_THERE\"]\n";
    let mut lab = Lab::new("");
    let hidden = lab.data().join("config.toml");
    lab.open(&(server("lab", &self::lab("environment", Some(&hidden))) + more));
    lab.connect("lab").await.unwrap();
    let operator = lab.operator().await;
    let said: Value = serde_json::from_str(&text(&lab.call(&operator, "alpha", json!({})).await)).unwrap();
    let mut names: Vec<&str> = said["env"].as_object().unwrap().keys().map(String::as_str).collect();
    names.retain(|name| *name != "LC_CTYPE");
    assert_eq!(names, ["CARGO_PKG_NAME", "HOME", "LAB_ROOT", "LANG", "PATH", "TMPDIR"]);
    let home = said["env"]["HOME"].as_str().unwrap();
    assert_eq!(said["cwd"], home);
    // Its three streams, and the directory that it looked into.
    assert_eq!(said["fds"], json!(["0", "1", "2", "3"]));
    // Mounts of its own are an extra that not every system gives.
    if said["parent"] == json!(1) {
        assert_eq!(said["seen"], json!(false), "the host's directory is in sight");
    }
    lab.host().close().await;
    assert!(!Path::new(home).exists(), "its home is left behind");
}

/// A server over HTTP, with a token that is kept sealed and goes along.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_over_http_is_given_its_token_and_called() {
    let web = WebServer::start("web.py", &["token-of-the-web-lab"]);
    let url = web.config("");
    let mut lab = Lab::new(&url);
    let operator = lab.operator().await;
    assert_eq!(lab.connect("lab").await, Err(BrokerFault::CredentialRefused));
    assert_eq!(lab.reach("lab"), ProviderReach::Offline("it wants a credential, or another one"));
    lab.host().set_provider_token(&operator, "lab", None, Some("token-of-the-web-lab")).await.unwrap();
    // What failed with the token that there was before is not remembered, and the token is there for the next host too.
    lab.connect("lab").await.unwrap();
    lab.host().close().await;
    lab.open(&url);
    lab.connect("lab").await.unwrap();
    let operator = lab.host().operators().login("four plain words here", None).await.unwrap().0;
    let outcome = lab.call(&operator, "add", json!({ "a": 2, "b": 3 })).await;
    assert!(outcome.kind() == Kind::Executed && text(&outcome) == "5", "{outcome:?} {:?}", outcome.message());
    let any: capability_core::session::Subject = "agent:any".parse().unwrap();
    lab.host().set_provider_token(&operator, "lab", Some(&any), Some("token-of-somebody-else")).await.unwrap();
    // Nothing of what everybody is shown is called with it, and the server does not take it.
    assert_eq!(lab.call(&operator, "add", json!({ "a": 2, "b": 3 })).await.code(), Some(Code::ProviderOffline));
    let connected = lab.host().providers().connect("lab", Some(lab.anybody().identity())).await;
    assert_eq!(connected, Err(BrokerFault::CredentialRefused));
    assert_eq!(lab.connect("lab").await.map(|connected| connected.unusable), Ok(0), "everybody's is as it was");
    let kept = lab.data().join("credentials");
    for file in fs::read_dir(kept).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("token-of"));
    }
    assert!(!lab.log().contains("token-of"), "{}", lab.log());
}

/// A tool that answers, and says each time that it failed, does not work: the call ran, and whoever would call it again is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_says_that_it_failed_counts_as_failing() {
    for (fault, fails) in [("tells", true), ("tells_in_error", true), ("structured", false)] {
        let lab = connected(fault, "", None).await;
        let (operator, session) = (lab.operator().await, lab.host().new_session_id());
        for times in 1..=3 {
            let outcome = lab.call(&operator, "alpha", json!({})).await;
            assert_eq!((outcome.kind(), outcome.provider_failed()), (Kind::Executed, fails), "{fault}");
            assert_eq!(serde_json::to_value(&outcome).unwrap()["provider_failed"] == json!(true), fails, "{fault}");
            let now = lab.host().environment().now();
            let guidance = lab.host().health().after(&outcome, session, now);
            assert_eq!(guidance.is_some(), fails && times == 3, "{fault} after {times}");
        }
        let health = lab.host().health().all();
        let (_, health) = health.iter().find(|(key, _)| key.as_str().starts_with("mcp.call@1 mcp lab ")).unwrap();
        let counted = if fails { (0, 3, 3) } else { (3, 0, 0) };
        assert_eq!((health.worked, health.failed, health.in_a_row), counted, "{fault}");
        let noted = lab.log().matches("\"provider_failed\":true").count();
        assert_eq!(noted, if fails { 3 } else { 0 }, "{fault}: {}", lab.log());
    }
}

/// One server's failure costs its peers nothing: calls of one go on while another hangs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_disturbs_no_other() {
    let hangs = server("hangs", &lab("silent", None)) + "discovery_s = 20\n";
    let lab = connected("well", &hangs, None).await;
    let operator = lab.operator().await;
    let began = Instant::now();
    let (hung, outcome) = tokio::join!(tokio::time::timeout(Duration::from_secs(60), lab.connect("hangs")), async {
        (lab.call(&operator, "alpha", json!({})).await, began.elapsed())
    },);
    assert_eq!((hung.unwrap(), outcome.0.kind()), (Err(BrokerFault::TimedOut), Kind::Executed));
    assert!(outcome.1 < Duration::from_secs(20), "it waited for the other one: {:?}", outcome.1);
}

/// What is not known to only read goes to a server one after the other, whatever its tools are called; what an operator has
/// classified as reading does not wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_may_change_something_go_to_a_server_one_after_the_other() {
    let mut lab = connected("meets", "", None).await;
    let operator = lab.operator().await;
    let (one, other) = tokio::join!(lab.call(&operator, "alpha", json!({})), lab.call(&operator, "beta", json!({})));
    assert_eq!([text(&one), text(&other)], ["alone", "alone"], "{one:?} {other:?}");
    let lines: String = lab
        .host()
        .providers()
        .tools("lab")
        .unwrap()
        .iter()
        .map(|told| {
            let (tool, definition) = (&told.tool, &told.definition);
            format!("[[mcp.servers.lab.tools]]\ntool = \"{tool}\"\ndefinition = \"{definition}\"\nside_effect = \"read_only\"\nnetwork = \"local\"\n")
        })
        .collect();
    lab.host().close().await;
    lab.open(&(server("lab", &self::lab("meets", None)) + "discovery_s = 30\n" + &lines));
    lab.connect("lab").await.unwrap();
    let (session, second) = (lab.anybody(), lab.anybody());
    let (one, other) = tokio::join!(lab.ask(&session, "alpha", json!({})), lab.ask(&second, "beta", json!({})));
    assert_eq!([text(&one), text(&other)], ["met another", "met another"], "{one:?} {other:?}");
}

/// A server of the older generation over HTTP tells of changes on a stream of its own, which is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_heard_from_an_older_server_over_http() {
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("tools.json");
    let write = |said: &str| describe(&file, said);
    write("does alpha");
    let web = WebServer::start("older_http.py", &[file.to_str().unwrap()]);
    let lab = Lab::new(&web.config("check_s = 3600\n"));
    lab.connect("lab").await.unwrap();
    assert_eq!(lab.tools("lab"), [("alpha".to_owned(), Standing::Accepted)]);
    // The stream is opened after the list was read: what changes before it is open is heard by nobody.
    tokio::time::sleep(Duration::from_secs(2)).await;
    write("does something else");
    // Nobody calls anything meanwhile and it is not looked at, so that no list is read for its age.
    lab.until("the change", |lab| (lab.tools("lab")[0].1 == Standing::Changed).then_some(())).await;
    lab.host().close().await;
}
