//! `agent.*`: agents that act for whoever asked.

use std::time::{Duration, Instant};

use capability_core::audit::OutcomeKind;
use capability_core::executor::Outcome;
use capability_core::session::{Declaration, Declarations, Mode, Origin, Session, SessionIdentity, Subject, TurnId};
use capability_core::{Code, Stage};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::household::{Household, folder, private, python};

/// Agents of these names, each in the name of `agent:NAME`, which declares so much.
fn config(agents: &[(&str, &[&str], &str)]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/python/agent.py");
    let one = |(name, declared, more): &(&str, &[&str], &str)| {
        format!(
            "[agents.{name}]\nsubject = \"agent:{name}\"\ncommand = [\"{}\", \"{script}\"]\n{more}\n\
             [subjects.\"agent:{name}\"]\ncapabilities = {}\n",
            python().display(),
            json!(declared)
        )
    };
    // Agents here call by its name whatever they declare.
    let listed = "[mcp]\nlist = \"all\"\n".to_owned();
    agents.iter().map(one).fold(listed, |text, agent| text + &agent)
}

async fn household(agents: &[(&str, &[&str], &str)]) -> Household {
    Household::open(folder(), &config(agents)).await
}

fn task(agent: &str, steps: &Value) -> Value {
    json!({ "agent": agent, "task": steps.to_string() })
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "call": tool, "arguments": arguments })
}

/// What each step told.
fn told(result: &Value) -> Vec<Value> {
    assert_eq!(result["ended"], "answered", "{result}");
    serde_json::from_str(result["answer"].as_str().unwrap()).unwrap_or_else(|error| panic!("{error}: {result}"))
}

fn result(outcome: &Outcome) -> Value {
    let told = outcome.result().unwrap_or_else(|| panic!("{outcome:?}: {:?}", outcome.message()));
    serde_json::from_str(told).unwrap()
}

fn count(household: &Household, ended: &str) -> usize {
    let log = household.log();
    let turns = log.lines().filter(|line| line.contains("\"event\":\"agent_turn\""));
    turns.filter(|line| line.contains(&format!("\"ended\":\"{ended}\""))).count()
}

async fn comes(mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < end, "it does not come");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_acts_in_a_turn_of_its_own_and_is_heard() {
    let household = household(&[("critic", &["subject.note", "system.health"], "")]).await;
    let steps = json!([call("subject-note", json!({ "text": "the canary sings" })), { "environment": true }]);
    let asked = household.ask("agent.run", &task("critic", &steps)).await;
    assert_eq!((asked.kind(), asked.stage()), (OutcomeKind::Pending, Stage::Confirm), "{asked:?}");
    let arguments = task("critic", &steps);
    let done = household.call_after("agent.run", &arguments, |pending| {
        let shown = &pending.preview.as_ref().unwrap().text;
        assert!(shown.contains("`agent:critic`") && shown.contains("python") && shown.contains("300 s"), "{shown}");
    });
    let told = told(&result(&done.await));
    // Nothing of the host's environment is there but what was named.
    assert_eq!(told[1], json!(["CAPABILITY_TURN", "HOME", "LANG", "PATH", "TMPDIR"]), "{told:?}");
    let critic: Subject = "agent:critic".parse().unwrap();
    assert_eq!(household.host.journal().count(&critic).await.unwrap(), 1, "{told:?}");
    let log = household.log();
    let turns: Vec<Value> = log
        .lines()
        .filter(|line| line.contains("\"event\":\"agent_turn\""))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(turns.len(), 2, "{log}");
    assert_eq!((&turns[0]["parent"], &turns[0]["subject"]), (&json!("local"), &json!("agent:critic")));
    assert_eq!(
        (&turns[0]["agent"], &turns[0]["depth"], &turns[0]["ended"]),
        (&json!("critic"), &json!(1), &Value::Null)
    );
    assert_eq!(turns[1]["ended"], "answered");
    let own = format!("\"session\":{}", turns[0]["session"]);
    assert!(log.lines().any(|line| line.contains(&own) && line.contains("\"capability\":\"subject.note\"")), "{log}");
    assert!(!log.contains("canary"), "what an agent is told and answers is content, and the log has none");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_may_do_what_both_declare_and_nothing_else() {
    let agents = config(&[("critic", &["subject.note", "system.health", "state.get"], "")]);
    let top = folder();
    let rules = "[[rule]]\nid = \"not-kitchen\"\neffect = \"deny\"\nreason = \"not hers\"\nsubject = \"agent:kitchen\"\ncapability = \"system.health\"\n";
    private(&top.path().join("data/policy.toml"), rules);
    let kitchen = "[subjects.\"agent:kitchen\"]\ncapabilities = []\n";
    let household = Household::open(top, &format!("{agents}{kitchen}")).await;
    let steps = json!([
        { "tools": true },
        call("subject-note", json!({ "text": "a" })),
        call("system-health", json!({})),
        call("state-get", json!({ "scope": "core", "key": "a" })),
        call("fs-read", json!({ "path": "a" })),
    ]);
    // Who declares all of it, and is denied one thing by a rule; and who declares less.
    for (declared, keeps) in [
        (&["agent.run:critic", "subject.note", "system.health", "state.get"][..], true),
        (&["agent.run:*", "subject.note", "fs.read"], false),
    ] {
        let session = household.turn_of("agent:kitchen", declared);
        let asked = household.ask_in(&session, "agent.run", &task("critic", &steps)).await;
        let told = told(&result(&household.approved(&session, &asked).await));
        let tools = told[0].as_array().unwrap();
        assert!(tools.contains(&json!("subject-note")) && !tools.contains(&json!("fs-read")), "{told:?}");
        // What whoever it acts for does not declare it is not shown, though it declares it itself.
        assert_eq!(tools.contains(&json!("state-get")), keeps, "{told:?}");
        let said = |at: usize| told[at].as_str().unwrap();
        let for_nobody = "whoever this session acts for could not do this";
        assert!(said(1).contains("noted_at"), "{told:?}");
        assert_eq!(said(2).contains(for_nobody), keeps, "{told:?}");
        assert_eq!(said(2).contains("no tool of that name"), !keeps, "{told:?}");
        assert!(said(3).contains(if keeps { "\"value\"" } else { "no tool of that name" }), "{told:?}");
        // What it does not declare itself is not there, whoever else declares it.
        assert!(said(4).contains("no tool of that name"), "{told:?}");
    }
    // Who declares no agent starts none, and who declares another one not this one.
    for declared in [&["subject.note"][..], &["agent.run:other"], &["agent.run"]] {
        let session = household.turn_of("agent:kitchen", declared);
        let outcome = household.ask_in(&session, "agent.run", &task("critic", &steps)).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::Undeclared)), "{outcome:?}");
    }
    let plan = household.turn();
    let identity = SessionIdentity { mode: Mode::Plan, ..plan.identity().clone() };
    let plan = household.host.sessions().open(identity, Declarations::everything());
    let outcome = household.ask_in(&plan, "agent.run", &task("critic", &steps)).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::PlanMode)), "{outcome:?}");
}

/// The host's own directory, with everything that it holds and the socket in it, is out of an agent's sight.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sees_nothing_of_the_host_and_its_secrets_are_masked() {
    let top = folder();
    let (data, secret) = (top.path().join("data"), top.path().join("token"));
    private(&secret, "sesame-open");
    let more = format!("secrets = {{ TOKEN = \"{}\" }}", secret.display());
    let household = Household::open(top, &config(&[("critic", &[], &more)])).await;
    let told = told(
        &household.called("agent.run", &task("critic", &json!([{ "look": data }, { "environment": true }]))).await,
    );
    assert_eq!(told[0], json!([]), "{told:?}");
    assert!(told[1].as_array().unwrap().contains(&json!("TOKEN")), "{told:?}");
    let written =
        household.called("agent.run", &task("critic", &json!([{ "write": "sesame-open ", "times": 2 }]))).await;
    assert!(!written.to_string().contains("sesame"), "{written}");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_start_one_another_in_no_circle_and_not_for_ever() {
    let everything = &["agent.run:*", "subject.note"][..];
    let agents = ["a", "b", "c", "d"].map(|name| (name, everything, ""));
    let household = household(&agents).await;
    let run = |agent: &str, steps: Value| call("agent-run", task(agent, &steps));
    // The innermost: `c`, whom `b` and `a` are behind.
    let innermost = json!([run("a", json!([])), run("c", json!([])), run("d", json!([])), run("e", json!([]))]);
    let steps = json!([run("b", json!([run("a", json!([])), run("c", innermost)]))]);
    let arguments = task("a", &steps);
    let (outermost, ()) = tokio::join!(household.called("agent.run", &arguments), async {
        // `local`'s own call is answered by `called`: these are those of `a` and of `b`.
        comes(|| count_of(&household, "agent:a", "pending") == 1).await;
        household.approve_next().await;
        comes(|| count_of(&household, "agent:b", "pending") == 1).await;
        household.approve_next().await;
    },);
    let [of_b] = &told(&outermost)[..] else { panic!("{outermost}") };
    let of_b = told(&serde_json::from_str(of_b.as_str().unwrap()).unwrap());
    assert!(of_b[0].as_str().unwrap().contains("act for that agent"), "{of_b:?}");
    let of_c = told(&serde_json::from_str(of_b[1].as_str().unwrap()).unwrap());
    // A fourth one would be one too many, whichever it is; what does not exist is said first.
    for (said, words) in of_c.iter().zip(["as many act", "as many act", "as many act", "no agent is configured"]) {
        assert!(said.as_str().unwrap().contains(words), "{said}");
    }
    assert_eq!(count(&household, "answered"), 3);
}

fn count_of(household: &Household, subject: &str, outcome: &str) -> usize {
    let (subject, outcome) = (format!("\"subject\":\"{subject}\""), format!("\"outcome\":\"{outcome}\""));
    household.log().lines().filter(|line| line.contains(&subject) && line.contains(&outcome)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_started_is_told_of_and_stopped_by_its_own_subject() {
    let household = household(&[("critic", &[], "")]).await;
    let slow = json!([{ "sleep": 600 }]);
    let run = household.called("agent.spawn", &task("critic", &slow)).await["run"].clone();
    let quick = household.called("agent.spawn", &task("critic", &json!([]))).await["run"].clone();
    let mut listed = Value::Null;
    let end = Instant::now() + Duration::from_secs(60);
    while listed["runs"][0]["ended"] != "answered" {
        assert!(Instant::now() < end, "{listed}");
        listed = household.called("agent.status", &json!({})).await;
    }
    assert_eq!((&listed["runs"][0]["run"], &listed["runs"][0]["answer"]), (&quick, &json!("[]\n")));
    assert_eq!((&listed["runs"][1]["run"], &listed["runs"][1]["ended_at"]), (&run, &Value::Null));
    let one = household.called("agent.status", &json!({ "run": run })).await;
    assert_eq!(one["runs"].as_array().unwrap().len(), 1, "{one}");

    // Somebody else's are nobody's.
    let other = household.turn_of("agent:kitchen", &["agent.status", "agent.stop"]);
    let seen = result(&household.ask_in(&other, "agent.status", &json!({})).await);
    assert_eq!(seen["runs"], json!([]));
    let asked = household.ask_in(&other, "agent.stop", &json!({ "run": run })).await;
    let outcome = household.approved(&other, &asked).await;
    assert!(outcome.message().unwrap().contains("no agent of yours"), "{outcome:?}");

    household.called("agent.stop", &json!({ "run": run })).await;
    assert_eq!(count(&household, "stopped"), 1);
    assert!(household.failed("agent.stop", &json!({ "run": run })).await.contains("no agent of yours"));
    let outcome = household.ask("agent.stop", &json!({ "run": "x".repeat(32) })).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(Code::CheckRefused)), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn so_many_run_at_a_time_and_no_more() {
    let household = household(&[("critic", &[], "")]).await;
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(household.called("agent.spawn", &task("critic", &json!([{ "sleep": 600 }]))).await["run"].clone());
    }
    let said = household.failed("agent.spawn", &task("critic", &json!([]))).await;
    assert!(said.contains("as many agents are under way"), "{said}");
    household.called("agent.stop", &json!({ "run": runs[0] })).await;
    household.called("agent.spawn", &task("critic", &json!([]))).await;
}

/// Whoever is called off has called off its agents.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_ends_with_the_call_or_the_session_that_it_acts_for() {
    let household = household(&[("critic", &["subject.note"], "")]).await;
    let slow = json!([call("subject-note", json!({ "text": "here" })), { "sleep": 600 }]);
    let critic: Subject = "agent:critic".parse().unwrap();
    let session = household.turn();
    let asked = household.ask_in(&session, "agent.run", &task("critic", &slow)).await;
    let (outcome, ()) = tokio::join!(household.approved(&session, &asked), async {
        while household.host.journal().count(&critic).await.unwrap() < 1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        session.end();
    });
    assert_eq!(outcome.kind(), OutcomeKind::Cancelled, "{outcome:?}");
    comes(|| count(&household, "stopped") == 1).await;

    let session = household.turn();
    let asked = household.ask_in(&session, "agent.spawn", &task("critic", &slow)).await;
    let outcome = household.approved(&session, &asked).await;
    assert_eq!(outcome.kind(), OutcomeKind::Executed, "{outcome:?}");
    session.end();
    comes(|| count(&household, "stopped") == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_goes_wrong_says_how() {
    let household = household(&[("critic", &[], "timeout = \"2s\"")]).await;
    for (steps, ended) in [(json!([{ "exit": 3 }]), "failed"), (json!([{ "sleep": 600 }]), "timed_out")] {
        let told = household.called("agent.run", &task("critic", &steps)).await;
        assert_eq!((&told["ended"], &told["answer"]), (&json!(ended), &json!("")), "{steps}");
    }
    let long = household.called("agent.run", &task("critic", &json!([{ "write": "word ", "times": 100_000 }]))).await;
    assert_eq!((&long["ended"], &long["truncated"]), (&json!("answered"), &json!(true)));
    assert!(long.to_string().len() < 64 * 1024);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_agent_nothing_starts_one() {
    let plain = Household::open(folder(), "").await;
    for (name, arguments) in [
        ("agent.run", task("critic", &json!([]))),
        ("agent.spawn", task("critic", &json!([]))),
        ("agent.status", json!({})),
        ("agent.stop", json!({ "run": "0".repeat(32) })),
    ] {
        let outcome = plain.ask(name, &arguments).await;
        let code = (outcome.stage(), outcome.code());
        assert_eq!(code, (Stage::Policy, Some(Code::MissingRuntimeBinding)), "{name}: {outcome:?}");
    }
    let closed = Household::closed(folder(), &config(&[("critic", &[], "")])).await;
    let outcome = closed.ask("agent.run", &task("critic", &json!([]))).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::OptInOff)), "{outcome:?}");

    // One that is not there, and one whose subject has no manifest: refused before anybody is asked.
    let lost = config(&[("critic", &[], "")]).replace("[subjects.\"agent:critic\"]", "[subjects.\"agent:other\"]");
    let household = Household::open(folder(), &lost).await;
    for (agent, words) in [("nobody", "no agent is configured"), ("../critic", "no agent"), ("critic", "no manifest")] {
        let outcome = household.ask("agent.run", &task(agent, &json!([]))).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(Code::PrepareFailed)), "{outcome:?}");
        assert!(outcome.message().unwrap().contains(words), "{:?}", outcome.message());
    }
}

fn declarations() -> impl Strategy<Value = Vec<Declaration>> {
    const NAMES: &[&str] = &[
        "fs.read",
        "fs.write",
        "state.put",
        "subject.note",
        "repository.read:notes",
        "repository.read:*",
        "agent.run:critic",
        "provider.call:docs",
        "tool.call:fs.read",
        "tool.call:docs/lookup",
        "mcp.call:*",
    ];
    prop::collection::vec(prop::sample::select(NAMES), 0..6)
        .prop_map(|names| names.into_iter().map(|name| name.parse().unwrap()).collect())
}

fn somebody() -> impl Strategy<Value = (Option<Vec<Declaration>>, Mode)> {
    (prop::option::weighted(0.8, declarations()), prop::sample::select(vec![Mode::Live, Mode::Live, Mode::Plan]))
}

/// However deep, whatever each declares, and in whichever modes: what one may do, everybody behind it may do.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_child_may_do_is_refused_to_anybody_behind_it() {
    let household = Household::open(folder(), "[trees]\n").await;
    let host = &household.host;
    let identity = |at: usize, mode| SessionIdentity {
        id: host.new_session_id(),
        subject: format!("agent:{at}").parse().unwrap(),
        mode,
        origin: Origin::Model,
        turn: TurnId(1),
    };
    let strategy = prop::collection::vec(somebody(), 2..5);
    let mut runner = proptest::test_runner::TestRunner::default();
    let ran = runner.run(&strategy, |chain| {
        let mut sessions: Vec<Session> = Vec::new();
        for (at, (declared, mode)) in chain.into_iter().enumerate() {
            let declared = declared.map_or_else(Declarations::everything, Declarations::only);
            let identity = identity(at, mode);
            let next = match sessions.last() {
                None => host.sessions().open(identity, declared),
                Some(parent) => host.sessions().open_for(parent, identity, declared),
            };
            sessions.push(next);
        }
        let ready = |session: &Session| {
            let decisions = host.executor().decisions(session);
            let found = decisions.iter().filter(|decision| decision.code().is_none());
            found.map(|decision| decision.capability.as_str().to_owned()).collect::<std::collections::BTreeSet<_>>()
        };
        for (parent, child) in sessions.iter().zip(sessions.iter().skip(1)) {
            prop_assert!(child.identity().mode >= parent.identity().mode);
            let (of_child, of_parent) = (ready(child), ready(parent));
            prop_assert!(of_child.is_subset(&of_parent), "{of_child:?} {of_parent:?}");
            for (name, scope) in [
                ("fs.read", None),
                ("repository.read", Some("notes")),
                ("repository.read", Some("site")),
                ("mcp.call", Some("docs")),
                ("tool.call", Some("docs/lookup")),
                ("agent.run", Some("critic")),
            ] {
                prop_assert!(!child.declares(name, scope) || parent.declares(name, scope), "{name} {scope:?}");
            }
        }
        // The end of the first is the end of all.
        sessions[0].end();
        prop_assert!(sessions.iter().all(Session::has_ended));
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}
