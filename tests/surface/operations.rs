//! Finding a tool and calling it.

use capability_core::provider::ProviderDecision;
use capability_core::surface::{FoundTool, MAX_HITS, SearchAnswer, Surface, SurfaceCall, SurfaceRefusal};
use capability_core::{Code, Outcome, Stage};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::tools::{all, compiled, definition, provided, surface};

/// A surface on which nothing of the laboratory is shown.
fn bare(bench: &Bench) -> Surface {
    let options = capability_core::surface::SurfaceOptions { budget: 0, ..Default::default() };
    Surface::of(&bench.executor, &all(&bench.executor), &options)
}

fn found(made: &Surface, query: &str) -> SearchAnswer {
    match made.call("tool_search", json!({ "query": query }).to_string().as_bytes()) {
        SurfaceCall::Found(answer) => answer,
        other => panic!("{query}: {other:?}"),
    }
}

fn refused(made: &Surface, name: &str, arguments: &str) -> SurfaceRefusal {
    match made.call(name, arguments.as_bytes()) {
        SurfaceCall::Refused(refusal) => refusal,
        other => panic!("{name} {arguments}: {other:?}"),
    }
}

async fn run(bench: &Bench, made: &Surface, name: &str, arguments: &Value) -> Outcome {
    match made.call(name, arguments.to_string().as_bytes()) {
        SurfaceCall::Proposal(proposal) => bench.executor.invoke(&bench.session, proposal).await,
        other => panic!("{name} {arguments}: {other:?}"),
    }
}

fn invocation(tool: &FoundTool, arguments: &Value) -> Value {
    json!({ "tool": tool.name, "digest": tool.digest, "arguments": arguments })
}

#[tokio::test]
async fn what_is_found_is_called_with_the_digest_it_was_found_with() {
    let bench = Bench::new();
    let made = bare(&bench);
    let answer = found(&made, "checked");
    let tool = &answer.tools[0];
    assert_eq!(tool.name, "lab-checked");
    assert_eq!(tool.input_schema["required"], json!(["from", "to"]));

    let outcome = run(&bench, &made, "invoke_tool", &invocation(tool, &json!({ "from": 1, "to": 2 }))).await;
    assert!(outcome.result().unwrap().contains("1..2"), "{outcome:?}");

    // The executor checks its arguments as it checks everybody's.
    let outcome = run(&bench, &made, "invoke_tool", &invocation(tool, &json!({ "from": 2, "to": 1 }))).await;
    assert_eq!(outcome.code(), Some(Code::CheckRefused));
    let outcome = run(&bench, &made, "invoke_tool", &invocation(tool, &json!({ "from": 1, "to": 2, "x": 3 }))).await;
    assert_eq!(outcome.code(), Some(Code::SchemaViolation));
}

#[tokio::test]
async fn another_definition_than_the_one_that_was_found_does_not_run_and_is_recorded() {
    let bench = Bench::new();
    let made = bare(&bench);
    let one = found(&made, "lab.checked").tools.swap_remove(0);
    let other = found(&made, "lab-typed").tools.swap_remove(0);
    assert_ne!(one.digest, other.digest);
    let stale = json!({ "tool": one.name, "digest": other.digest, "arguments": { "from": 1, "to": 2 } });
    let outcome = run(&bench, &made, "invoke_tool", &stale).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Resolve, Some(Code::SelectionStale)));
    assert!(outcome.help().unwrap_or_default().contains("tool_search"), "{outcome:?}");
    let recorded = bench.last_outcome();
    assert_eq!((&recorded["code"], &recorded["effect"]), (&json!("selection_stale"), &json!("not_started")));
    assert_eq!(bench.world().ran(), 0);
}

#[test]
fn a_changed_description_is_another_definition() {
    let bench = Bench::new();
    let entry = bench.executor.registry().resolve("lab.scoped", 1).unwrap().entry();
    let of = |description: &str| -> Surface {
        surface(&bench.executor, &[provided(entry, definition("files", "glob", description))], &[])
    };
    let (before, after) = (found(&of("Finds files."), "files"), found(&of("Finds files!"), "files"));
    assert_eq!(before.tools[0].name, after.tools[0].name);
    assert_ne!(before.tools[0].digest, after.tools[0].digest);
    assert_eq!(before.tools[0].provider.as_deref(), Some("mcp files"));
}

#[test]
fn a_deferred_tool_is_not_called_by_its_name() {
    let bench = Bench::new();
    let refusal = refused(&bare(&bench), "lab-checked", r#"{"from":1,"to":2}"#);
    assert!(refusal.message.contains("`invoke_tool`") && refusal.help.contains("`tool_search`"), "{refusal}");
}

#[tokio::test]
async fn an_unknown_name_is_recorded_as_unknown_whichever_way_it_is_called() {
    let bench = Bench::new();
    let made = surface(&bench.executor, &all(&bench.executor), &[]);
    let digest = "0".repeat(32);
    // Neither a dotted name, nor a name without the version it takes, is a name of the surface.
    for name in ["nobody", "lab.checked", "lab-asks", "", "LAB-CHECKED", "lab-checked "] {
        for (called, arguments) in [
            (name, json!({ "from": 1, "to": 2 })),
            ("invoke_tool", json!({ "tool": name, "digest": digest, "arguments": { "from": 1, "to": 2 } })),
        ] {
            let outcome = run(&bench, &made, called, &arguments).await;
            assert_eq!((outcome.stage(), outcome.code()), (Stage::Resolve, Some(Code::UnknownCapability)), "{name:?}");
        }
    }
    assert_eq!(bench.outcomes().len(), 12);
    assert!(!bench.tape.lines().contains("nobody"));
}

#[test]
fn operations_take_what_they_say_and_nothing_else() {
    let bench = Bench::new();
    let made = bare(&bench);
    let long = format!(r#"{{"query":"{}"}}"#, "x".repeat(257));
    for arguments in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"query":""}"#,
        r#"{"query":"  "}"#,
        r#"{"query":7}"#,
        r#"{"query":"a","limit":0}"#,
        r#"{"query":"a","limit":11}"#,
        r#"{"query":"a","limit":-1}"#,
        r#"{"query":"a","x":1}"#,
        r#"{"query":"a","query":"secret"}"#,
        &long,
    ] {
        let refusal = refused(&made, "tool_search", arguments);
        assert!(!refusal.to_string().contains("secret") && !refusal.to_string().contains("xxx"), "{refusal}");
    }
    for arguments in [
        "",
        "{}",
        r#"{"tool":"lab-checked","arguments":{}}"#,
        r#"{"tool":"lab-checked","digest":"","arguments":{}}"#,
        r#"{"tool":"lab-checked","digest":"00","arguments":{}}"#,
        r#"{"tool":"lab-checked","digest":"00000000000000000000000000000000"}"#,
        r#"{"tool":"a","tool":"b","digest":"00000000000000000000000000000000","arguments":{}}"#,
        r#"{"tool":"a","digest":"00000000000000000000000000000000","arguments":{},"confirmed":true}"#,
    ] {
        refused(&made, "invoke_tool", arguments);
    }
}

#[tokio::test]
async fn arguments_reach_the_executor_as_they_were_sent() {
    let bench = Bench::new();
    let made = bare(&bench);
    let digest = found(&made, "lab-checked").tools[0].digest;
    for (arguments, code) in [
        (r#"{"from":1,"from":1,"to":2}"#, Code::DuplicateKey),
        (r#"[1,2]"#, Code::NotAnObject),
        (r#""{}""#, Code::NotAnObject),
    ] {
        let whole = format!(r#"{{"tool":"lab-checked","digest":"{digest}","arguments":{arguments}}}"#);
        let SurfaceCall::Proposal(proposal) = made.call("invoke_tool", whole.as_bytes()) else { panic!("{arguments}") };
        assert_eq!(bench.executor.invoke(&bench.session, proposal).await.code(), Some(code), "{arguments}");
    }
}

#[test]
fn an_answer_is_short_whatever_there_is() {
    let bench = Bench::new();
    let entry = bench.executor.registry().resolve("lab.scoped", 1).unwrap().entry();
    let decisions: Vec<ProviderDecision> = (0..1_000)
        .map(|at| provided(entry, definition("files", &format!("tool{at:04}"), &"Finds files. ".repeat(400))))
        .collect();
    let made = surface(&bench.executor, &decisions, &[]);
    assert_eq!(made.deferred().count(), 1_000);
    let wanted = json!({ "query": "files", "limit": MAX_HITS }).to_string();
    let SurfaceCall::Found(answer) = made.call("tool_search", wanted.as_bytes()) else { panic!("a search answers") };
    assert!(!answer.tools.is_empty() && answer.tools.len() + answer.more == 1_000);
    assert!(serde_json::to_string(&answer).unwrap().len() < 40_000);
    // Whoever knows a name gets it first.
    assert_eq!(found(&made, "mcp-files--tool0777").tools[0].name, "mcp-files--tool0777");
    assert_eq!(found(&made, "nothing like it").tools, []);
}

#[test]
fn what_is_shown_is_not_found_and_what_is_hidden_neither() {
    let bench = Bench::new();
    let entry = |name| bench.executor.registry().resolve(name, 1).unwrap().entry();
    let made = surface(&bench.executor, &[compiled(entry("lab.checked"))], &[]);
    assert_eq!(found(&made, "lab-checked").tools, []);
    assert_eq!(found(&made, "lab-typed").tools, []);
}
