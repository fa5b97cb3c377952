//! Servers that are nobody's until a session names them.

use std::path::Path;
use std::time::Duration;

use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::Class;
use capability_core::executor::{Effect, Outcome, Proposal};
use capability_core::provider::{ProviderReach, ProviderType, Providers as _, Route, Standing};
use capability_core::{Code, Session};
use capability_host::provider::NotBound;
use capability_host::{Host, HostOptions};
use serde_json::json;

use crate::mcp_calls::text;
use crate::mcp_lab::{Lab, describe, lab, notes, runs, server};

const READS: &str = "lab.act_read_local";
const LONG: Duration = Duration::from_secs(600);

/// A server of ours with this fault that a session can have of its own.
fn config(fault: &str, file: Option<&Path>) -> String {
    server("lab", &lab(fault, file)) + "scope = \"request\"\ndiscovery_s = 30\n"
}

fn bind(lab: &Lab, session: &Session) {
    lab.host().providers().bind("lab", session.identity(), LONG).unwrap();
}

/// Asks to connect, and has an operator say yes.
async fn connect(lab: &Lab, operator: &capability_core::approval::Operator, session: &Session) -> Outcome {
    let connect = Proposal::new("mcp.connect", 1, r#"{"server":"lab"}"#);
    let asked = lab.host().executor().invoke(session, connect).await;
    assert_eq!(asked.kind(), Kind::Pending, "it is asked for: {asked:?}");
    lab.approve(operator, asked.approval().unwrap()).await;
    lab.host().executor().resume(session, asked.approval().unwrap()).await
}

/// What a session is shown of the server: the tools, and by which route.
fn shown(lab: &Lab, session: &Session) -> Vec<(String, Route)> {
    let decisions = lab.host().executor().decisions(session);
    let own = decisions.iter().filter(|own| own.provider_type == ProviderType::Mcp);
    own.map(|own| (own.native_id.to_string(), own.route)).collect()
}

async fn code(lab: &Lab, session: &Session) -> Option<Code> {
    let outcome = lab.ask(session, "alpha", json!({ "x": 1 })).await;
    assert_eq!(outcome.approval(), None, "nobody is asked: {outcome:?}");
    outcome.code()
}

/// Bound, asked for, called and gone again: for the session that named it, and for no other one by either door.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_a_session_is_that_sessions_alone_and_ends_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes");
    let lab = Lab::new(&config("family", Some(&file)));
    let operator = lab.operator().await;
    let (own, other) = (lab.anybody(), lab.anybody());
    assert_eq!(code(&lab, &own).await, Some(Code::UnsupportedCapability), "it is nobody's yet");
    bind(&lab, &own);
    bind(&lab, &own);
    assert_eq!(code(&lab, &own).await, Some(Code::ProviderOffline), "it is there, and nobody has connected it");
    assert!(!file.exists(), "nothing is started by naming it");
    let connected = connect(&lab, &operator, &own).await;
    assert_eq!(connected.kind(), Kind::Executed, "{connected:?} {:?}", connected.message());

    let both = |route| vec![("alpha".to_owned(), route), ("beta".to_owned(), route)];
    assert_eq!(shown(&lab, &own), both(Route::RequestScopedMcp));
    let asked = lab.ask(&own, "alpha", json!({ "x": 1 })).await;
    assert_eq!(asked.provider().map(|decided| decided.route), Some(Route::RequestScopedMcp));
    lab.approve(&operator, asked.approval().unwrap()).await;
    let outcome = lab.host().executor().resume(&own, asked.approval().unwrap()).await;
    assert!(text(&outcome).starts_with("{\"x\": 1}"), "{outcome:?} {:?}", outcome.message());

    // Another session of the same subject sees nothing of it, cannot call it, and cannot have it connect.
    assert_eq!(shown(&lab, &other), []);
    assert_eq!(code(&lab, &other).await, Some(Code::UnsupportedCapability));
    assert!(lab.host().executor().decisions(&other).unready().is_empty());
    assert_eq!(connect(&lab, &operator, &other).await.kind(), Kind::Failed);
    assert!(lab.connect("lab").await.is_err(), "nor can the host for everybody");

    // A second one has a program of its own.
    bind(&lab, &other);
    assert_eq!(connect(&lab, &operator, &other).await.kind(), Kind::Executed);
    assert_eq!(notes(&file).iter().filter(|note| *note == "started").count(), 2);

    // With the session the program goes, and all that it started; what was approved for it is void.
    let waiting = lab.ask(&own, "alpha", json!({ "x": 2 })).await.approval().unwrap();
    lab.approve(&operator, waiting).await;
    lab.host().providers().leave(own.identity().id);
    assert_eq!((shown(&lab, &own), code(&lab, &own).await), (vec![], Some(Code::UnsupportedCapability)));
    let outcome = lab.host().executor().resume(&own, waiting).await;
    assert_eq!((outcome.kind(), outcome.code()), (Kind::Rejected, Some(Code::UnsupportedCapability)), "{outcome:?}");
    assert_eq!(shown(&lab, &other).len(), 2, "the other one's is left");
    lab.host().providers().leave(other.identity().id);
    let all = [file.to_str().unwrap(), "capability-lab-orphan", "capability-lab-child"];
    lab.until("the end of all that was started", |_| (!all.iter().any(|word| runs(word))).then_some(())).await;
}

/// What it declares is judged as every server's is, whichever session sees it: what one session was shown first is what the next
/// one's is held against.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_sessions_server_declares_is_judged_as_every_servers_is() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tools.json");
    let write = |said: &str| describe(&file, said);
    write("reads");
    let lab = Lab::new(&config("from_file", Some(&file)));
    let operator = lab.operator().await;
    let (one, two) = (lab.anybody(), lab.anybody());
    bind(&lab, &one);
    assert_eq!(connect(&lab, &operator, &one).await.kind(), Kind::Executed);
    let told = lab.host().providers().tools("lab").unwrap();
    assert_eq!((told.len(), told[0].standing.as_str(), told[0].side_effect.as_str()), (1, "accepted", "mutating"));
    lab.host().providers().leave(one.identity().id);

    write("sends");
    bind(&lab, &two);
    assert_eq!(shown(&lab, &two).len(), 1, "what was accepted of it is in sight");
    assert_eq!(connect(&lab, &operator, &two).await.kind(), Kind::Executed);
    assert_eq!(code(&lab, &two).await, Some(Code::ToolQuarantined));
    // One that is bound meanwhile knows as well, and what an operator accepts holds for both.
    bind(&lab, &one);
    let change = lab.host().providers().change("lab", "alpha").unwrap();
    assert_eq!((change.accepted.description.as_str(), change.now.description.as_str()), ("reads", "sends"));
    lab.host().accept_definition(&operator, "lab", "alpha", change.now.digest()).await.unwrap();
    let snapshot = lab.host().providers().snapshot();
    for session in [&one, &two] {
        let state = snapshot.provider(ProviderType::Mcp, "lab", session.identity()).unwrap();
        let tool = &state.tools[0];
        assert_eq!((tool.standing(), tool.definition().description.as_str()), (Standing::Accepted, "sends"));
    }
    lab.host().close().await;
}

/// A capability of this build that a session's server carries out: before this host and after an edge, asked as for a tool of
/// somebody else's, and by nobody else in silence.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sessions_server_carries_out_what_the_operator_lets_it() {
    let carries = "carries_out = { \"lab.act_read_local\" = \"alpha\" }\n";
    let edge = "[edges.desk]\ncarries_out = [\"lab.who\"]\n";
    let lab = Lab::new(&(config("structured", None) + carries + edge));
    let operator = lab.operator().await;
    lab.host().set_opt_in(&operator, "lab", true).await.unwrap();
    let declared = ["mcp.call:*", "mcp.connect:*", READS];
    let (own, other) = (lab.session("agent:any", &declared), lab.session("agent:any", &declared));
    let ask = async |session: &Session| {
        let call = Proposal::new(READS, 1, json!({ "behaviour": "answer" }).to_string());
        lab.host().executor().invoke(session, call).await
    };
    let by = |outcome: &Outcome| outcome.provider().map_or("compiled".to_owned(), |own| own.provider_id.to_string());
    let outcome = ask(&own).await;
    assert_eq!(
        (outcome.kind(), by(&outcome).as_str()),
        (Kind::Executed, "compiled"),
        "nobody has named it: {outcome:?}"
    );

    bind(&lab, &own);
    let outcome = ask(&own).await;
    assert_eq!((outcome.code(), by(&outcome).as_str()), (Some(Code::ProviderOffline), "lab"), "{outcome:?}");
    assert_eq!(connect(&lab, &operator, &own).await.kind(), Kind::Executed);
    let decisions = lab.host().executor().decisions(&own);
    let listed = decisions.compiled(READS, core::num::NonZeroU32::MIN).unwrap();
    assert_eq!((listed.route, &*listed.provider_id, listed.class), (Route::RequestScopedMcp, "lab", Class::STRICTEST));
    let asked = ask(&own).await;
    assert_eq!(asked.kind(), Kind::Pending, "what a server's tool does nobody here knows: {asked:?}");
    lab.approve(&operator, asked.approval().unwrap()).await;
    let outcome = lab.host().executor().resume(&own, asked.approval().unwrap()).await;
    assert_eq!((outcome.kind(), by(&outcome).as_str()), (Kind::Executed, "lab"), "{outcome:?} {:?}", outcome.message());
    assert!(outcome.result().unwrap().contains("from the lab"), "{outcome:?}");
    // Another session is served by this host, as it was.
    let outcome = ask(&other).await;
    assert_eq!((outcome.kind(), by(&outcome).as_str()), (Kind::Executed, "compiled"), "{outcome:?}");
    lab.host().providers().leave(own.identity().id);
    let outcome = ask(&own).await;
    assert_eq!((outcome.kind(), by(&outcome).as_str()), (Kind::Executed, "compiled"), "{outcome:?}");
}

/// What it answers is held to the capability's own result, and a tool that is not there carries nothing out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_sessions_server_answers_is_held_to_the_capability() {
    for (tool, kind, effect) in
        [("beta", Kind::ResultInvalid, Effect::Completed), ("gamma", Kind::Rejected, Effect::NotStarted)]
    {
        let carries = format!("carries_out = {{ \"lab.act_read_local\" = \"{tool}\" }}\n");
        let lab = Lab::new(&(config("structured", None) + &carries));
        let operator = lab.operator().await;
        lab.host().set_opt_in(&operator, "lab", true).await.unwrap();
        let own = lab.session("agent:any", &["mcp.connect:*", READS]);
        bind(&lab, &own);
        assert_eq!(connect(&lab, &operator, &own).await.kind(), Kind::Executed, "{tool}");
        let call = Proposal::new(READS, 1, json!({ "behaviour": "answer" }).to_string());
        let mut outcome = lab.host().executor().invoke(&own, call).await;
        // About what is not there nobody is asked.
        assert_eq!(outcome.approval().is_some(), tool == "beta", "{tool}: {outcome:?}");
        if let Some(id) = outcome.approval() {
            lab.approve(&operator, id).await;
            outcome = lab.host().executor().resume(&own, id).await;
        }
        assert_eq!((outcome.kind(), outcome.effect()), (kind, effect), "{tool}: {outcome:?}");
    }
}

/// What carries a capability out changes its words while a call of it waits, and an operator accepts them: what was answered before
/// is no answer for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_accepted_of_a_carrying_tool_later_runs_on_no_earlier_answer() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tools.json");
    let write = |said: &str| describe(&file, said);
    write("reads");
    let carries = "carries_out = { \"lab.act_read_local\" = \"alpha\" }\n";
    let lab = Lab::new(&(config("from_file", Some(&file)) + carries));
    let operator = lab.operator().await;
    lab.host().set_opt_in(&operator, "lab", true).await.unwrap();
    let own = lab.session("agent:any", &["mcp.connect:*", READS]);
    bind(&lab, &own);
    assert_eq!(connect(&lab, &operator, &own).await.kind(), Kind::Executed);
    let ask = || Proposal::new(READS, 1, json!({ "behaviour": "answer" }).to_string());
    let id = lab.host().executor().invoke(&own, ask()).await.approval().unwrap();
    lab.approve(&operator, id).await;

    write("sends");
    let change = lab.until("the other words", |lab| lab.host().providers().change("lab", "alpha")).await;
    let quarantined = lab.host().executor().resume(&own, id).await;
    assert_eq!((quarantined.code(), quarantined.effect()), (Some(Code::ToolQuarantined), Effect::NotStarted));
    lab.host().accept_definition(&operator, "lab", "alpha", change.now.digest()).await.unwrap();
    let outcome = lab.host().executor().resume(&own, id).await;
    assert_eq!((outcome.code(), outcome.effect()), (Some(Code::ApprovalMismatch), Effect::NotStarted), "{outcome:?}");
    // Asked again, it is sent, and answers without data.
    let id = lab.host().executor().invoke(&own, ask()).await.approval().unwrap();
    lab.approve(&operator, id).await;
    let outcome = lab.host().executor().resume(&own, id).await;
    assert_eq!(outcome.message().as_deref(), Some("the provider's tool answered without data"), "{outcome:?}");
    lab.host().close().await;
}

/// A name that is none, or everybody's, is refused with what is near; and what no session names for long is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_is_configured_for_it_is_bound_and_only_while_it_is_named() {
    let lab = Lab::new(&(config("well", None) + &server("docs", &lab("well", None))));
    let operator = lab.operator().await;
    let session = lab.anybody();
    let providers = lab.host().providers();
    let refused = |name: &str| providers.bind(name, session.identity(), LONG).unwrap_err();
    assert_eq!(refused("docs"), NotBound::Everybodys("docs".to_owned()));
    assert_eq!(refused("lap"), NotBound::Unknown("lap".to_owned(), Some("lab".to_owned())));
    assert_eq!(refused("nothing-like-it"), NotBound::Unknown("nothing-like-it".to_owned(), None));
    for name in ["docs", "lap", "nothing-like-it"] {
        let said = refused(name).to_string();
        assert!(said.contains(&format!("`{name}`")) && said.contains("\nhelp: "), "{said}");
    }
    assert!(shown(&lab, &session).is_empty());

    // Everybody's is everybody's, and goes the host's way.
    lab.connect("docs").await.unwrap();
    let routes: Vec<_> = shown(&lab, &session).into_iter().map(|(_, route)| route).collect();
    assert_eq!(routes, [Route::ServerRuntime, Route::ServerRuntime]);

    bind(&lab, &session);
    assert_eq!(connect(&lab, &operator, &session).await.kind(), Kind::Executed);
    providers.sweep();
    assert_eq!(shown(&lab, &session).len(), 4, "it was named a moment ago");
    providers.bind("lab", session.identity(), Duration::ZERO).unwrap();
    providers.sweep();
    assert_eq!(shown(&lab, &session).len(), 2);
    // Named again, it is there again, and connected by nobody.
    bind(&lab, &session);
    let snapshot = providers.snapshot();
    let state = snapshot.provider(ProviderType::Mcp, "lab", session.identity()).unwrap();
    assert_eq!((state.reach, state.tools.len()), (ProviderReach::NotConnected, 2));
    lab.host().close().await;
}

/// One subject's sessions do not take every place there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_has_every_server_of_sessions() {
    let lab = Lab::new(&config("well", None));
    let providers = lab.host().providers();
    let of = |subject: &str| lab.session(subject, &["mcp.call:*", "mcp.connect:*"]);
    let mut sessions = Vec::new();
    let refused = loop {
        let session = of("agent:any");
        match providers.bind("lab", session.identity(), LONG) {
            Ok(()) => sessions.push(session),
            Err(refused) => break refused,
        }
        assert!(sessions.len() < 64, "one subject has them all");
    };
    assert!(refused == NotBound::Full && !sessions.is_empty(), "{refused:?}");
    bind(&lab, &of("agent:other"));
    providers.leave(sessions.pop().unwrap().identity().id);
    bind(&lab, &of("agent:any"));
    lab.host().close().await;
}

#[test]
fn a_configuration_that_contradicts_itself_is_refused_with_its_line() {
    let scoped = "[mcp.servers.lab]\nurl = \"http://127.0.0.1:9/\"\nscope = \"request\"\n";
    for (config, line, words) in [
        (format!("{scoped}start = \"with_host\"\n"), 4, "started with the host"),
        (
            format!("{}carries_out = {{ \"lab.who\" = \"x\" }}\n", scoped.replace("request", "host")),
            4,
            "it is everybody's",
        ),
        (format!("{scoped}carries_out = {{ \"lab.whom\" = \"x\" }}\n"), 4, "`lab.who` is one that it has"),
        (format!("{scoped}carries_out = {{ \"mcp.call\" = \"x\" }}\n"), 4, "`mcp.call` is never carried out elsewhere"),
        (scoped.replace("\"request\"", "\"session\""), 3, "unknown variant `session`"),
        (format!("{scoped}[mcp.clients.phone]\nservers = [\"lap\"]\n"), 5, "`lab` is one"),
        (
            format!("{}[mcp.clients.phone]\nservers = [\"lab\"]\n", scoped.replace("scope = \"request\"\n", "")),
            4,
            "`lab` is no server that a session can have of its own",
        ),
    ] {
        let top = tempfile::tempdir().unwrap();
        let data = top.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let file = data.join("config.toml");
        std::fs::write(&file, &config).unwrap();
        for (path, mode) in [(&data, 0o700), (&file, 0o600)] {
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
        let packages = &["capabilities", env!("CARGO_PKG_NAME")];
        let opened = Host::open(HostOptions { data_dir: data, packages, accept_degraded: true });
        let error = opened.err().unwrap_or_else(|| panic!("{config}")).to_string();
        assert!(error.contains(&format!("config.toml` line {line}: ")) && error.contains(words), "{config}: {error}");
    }
}
