//! Finding a tool and calling it.

use capability_core::provider::{Diagnostic, ProviderDecision};
use capability_core::surface::{FoundTool, MAX_HITS, SearchAnswer, Surface, SurfaceCall};
use capability_core::{Code, Outcome, Stage};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::tools::{all, compiled, definition, names, provided, surface};

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

/// That a call is refused at resolve for this reason, as malformed and on record, and the words for it.
async fn refused(bench: &Bench, made: &Surface, name: &str, arguments: &str, code: Code) -> String {
    let SurfaceCall::Proposal(proposal) = made.call(name, arguments.as_bytes()) else { panic!("{name} {arguments}") };
    let before = bench.outcomes().len();
    let outcome = bench.executor.invoke(&bench.session, proposal).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Resolve, Some(code)), "{name} {arguments}");
    assert_eq!(outcome.diagnostic(), Some(Diagnostic::MalformedToolCall));
    assert_eq!((bench.outcomes().len(), &bench.last_outcome()["code"]), (before + 1, &json!(code)));
    assert_eq!(bench.world().ran(), 0);
    format!("{}\nhelp: {}", outcome.message().unwrap_or_default(), outcome.help().unwrap_or_default())
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

#[tokio::test]
async fn a_deferred_tool_is_not_called_by_its_name() {
    let bench = Bench::new();
    let made = bare(&bench);
    let told = refused(&bench, &made, "lab-checked", r#"{"from":1,"to":2}"#, Code::SelectionMissing).await;
    assert!(told.contains("`lab-checked` is called by `invoke_tool` only") && told.contains("`tool_search`"), "{told}");
    assert_eq!(bench.last_outcome()["capability"], "lab.checked");
}

/// Whoever read the array before a provider was there has what reaches its tools in it, pinned ones too.
#[test]
fn what_comes_after_the_array_was_read_is_found() {
    let bench = Bench::new();
    let entry = bench.executor.registry().resolve("lab.scoped", 1).unwrap().entry();
    let before = surface(&bench.executor, &[], &["mcp-files--glob"]);
    assert_eq!(names(&before), ["tool_search", "invoke_tool"]);
    let tools = [
        provided(entry, definition("files", "glob", "Finds files.")),
        provided(entry, definition("files", "grep", "Finds files.")),
    ];
    let after = surface(&bench.executor, &tools, &["mcp-files--glob"]);
    assert_eq!(names(&after), ["tool_search", "invoke_tool", "mcp-files--glob"]);
    let found: Vec<_> = found(&after, "files").tools.into_iter().map(|tool| tool.name).collect();
    assert_eq!(found, ["mcp-files--glob", "mcp-files--grep"]);
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

#[tokio::test]
async fn operations_take_what_they_say_and_nothing_else() {
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
        let told = refused(&bench, &made, "tool_search", arguments, Code::OperationMalformed).await;
        assert!(!told.contains("secret") && !told.contains("xxx"), "{told}");
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
        refused(&bench, &made, "invoke_tool", arguments, Code::OperationMalformed).await;
    }
    assert!(!bench.tape.lines().contains("secret") && !bench.tape.lines().contains("lab-checked"));
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
    assert!(serde_json::to_string(&answer).unwrap().len() <= 33 * 1024);
    // Whoever knows a name gets it first.
    assert_eq!(found(&made, "mcp-files--tool0777").tools[0].name, "mcp-files--tool0777");
    assert_eq!(found(&made, "nothing like it").tools, []);
}

/// One tool whose provider says more than there is room for: what is cut is told by its size, and the tool stays callable.
#[test]
fn one_tool_is_no_longer_than_an_answer_whatever_its_provider_writes() {
    let bench = Bench::new();
    let entry = bench.executor.registry().resolve("lab.scoped", 1).unwrap().entry();
    for (description, property) in [
        ("files \u{1}".repeat(30_000), "x".to_owned()),
        ("files".to_owned(), "x".repeat(200_000)),
        ("files \u{e9}".repeat(30_000), "y".repeat(200_000)),
    ] {
        let mut hostile = definition("files", "glob", &description);
        hostile.input_schema["properties"]["path"]["description"] = property.into();
        let made = surface(&bench.executor, &[provided(entry, hostile.clone())], &[]);
        let answer = found(&made, "mcp-files--glob");
        let tool = &answer.tools[0];
        assert!(serde_json::to_string(&answer).unwrap().len() <= 33 * 1024, "{}", description.len());
        let cut = tool.cut.expect("something is cut");
        assert_eq!(cut.description, (description.len() > 2048).then_some(description.len()));
        assert_eq!(cut.input_schema.is_some(), tool.input_schema == json!({ "type": "object" }));
        assert_eq!(Some(tool.digest), made.find("mcp-files--glob").unwrap().selection(bench.executor.registry()));
    }
    let plain = surface(&bench.executor, &[provided(entry, definition("files", "glob", "Finds files."))], &[]);
    assert_eq!(found(&plain, "files").tools[0].cut, None);
}

#[test]
fn what_is_shown_is_not_found_and_what_is_hidden_neither() {
    let bench = Bench::new();
    let entry = |name| bench.executor.registry().resolve(name, 1).unwrap().entry();
    let made = surface(&bench.executor, &[compiled(entry("lab.checked"))], &[]);
    assert_eq!(found(&made, "lab-checked").tools, []);
    assert_eq!(found(&made, "lab-typed").tools, []);
}
