//! A provider's tool, called through the capability that leads to it.

use std::sync::Arc;

use capability_core::approval::{ApprovalStatus, GrantEnd, GrantLimit, GrantLimits};
use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::{Class, Network, SideEffect};
use capability_core::executor::Effect;
use capability_core::handle::{ToolContent, ToolReply};
use capability_core::policy::OptIn;
use capability_core::provider::{
    Claims, DefinitionFault, Diagnostic, ProvidedTool, ProviderReach, ProviderState, ProviderType, Route, Standing,
    ToolDefinition, Whose,
};
use capability_core::redact::{Redaction, Redactor};
use capability_core::session::Mode;
use capability_core::store::Approvals as _;
use capability_core::{Code, Outcome, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::{only, proposal};
use crate::fixtures::providers::{definition, provider, tool};

const READS_HERE: Class = Class::new(SideEffect::ReadOnly, Network::Local);

fn said(text: &str) -> ToolReply {
    ToolReply { content: vec![ToolContent::Text { text: text.to_owned() }], structured: None, is_error: false }
}

/// A bench with these tools behind the connection `docs`, each of which answers with what it was sent.
fn bench_with(tools: Vec<ProvidedTool>) -> Bench {
    let bench = Bench::providing(GrantLimits::off());
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", tools)]);
    bench.bindings.answer_tools(|lease| {
        let (decision, arguments) = lease.provided().expect("it goes through");
        Ok(said(&format!("{}: {}", decision.native_id, String::from_utf8_lossy(arguments))))
    });
    bench
}

fn bench() -> Bench {
    bench_with(vec![tool("docs", "find"), tool("docs", "drop")])
}

fn classified(definition: ToolDefinition) -> ProvidedTool {
    let digest = definition.digest();
    ProvidedTool::new(definition).classified_as(&digest, READS_HERE)
}

fn envelope(native: &str, arguments: Value) -> Value {
    json!({ "server": "docs", "tool": native, "arguments": arguments })
}

fn text_of(outcome: &Outcome) -> String {
    let result: Value = serde_json::from_str(outcome.result().expect("it ran")).expect("a result is JSON");
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

fn refused(outcome: &Outcome, code: Code, diagnostic: Diagnostic) {
    assert_eq!(outcome.code(), Some(code), "{outcome:?}");
    assert_eq!(outcome.stage(), code.stage());
    assert_eq!(outcome.diagnostic(), Some(diagnostic));
}

#[tokio::test]
async fn an_unclassified_tool_asks_a_person_and_is_sent_exactly_what_was_approved() {
    let bench = bench();
    let id = bench.pending("mcp.call", &envelope("find", json!({ "n": 30.0, "q": "\u{e9}" }))).await;
    let filed = bench.found(id).await.expect("it is filed").filed.expect("it has its content");
    assert_eq!(filed.approval.class, Class::new(SideEffect::Mutating, Network::External));
    assert_eq!(filed.approval.because, [Code::FloorRequired]);
    bench.approve(id).await;
    let outcome = bench.resume(id).await;
    assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?}");
    assert_eq!(text_of(&outcome), "find: {\"n\":30,\"q\":\"\u{e9}\"}");
    let decision = outcome.provider().expect("a provider ran it");
    assert_eq!(
        (decision.provider_type, &*decision.provider_id, &*decision.native_id, decision.route),
        (ProviderType::Mcp, "docs", "find", Route::ServerRuntime)
    );
    // The log says which connection and which number, and no word of what the provider calls its tool.
    let last = bench.last_outcome();
    let tag = decision.tag().expect("a foreign tool has one").to_string();
    assert_eq!(
        only(&last, &["capability", "side_effect", "network", "provided", "outcome"]),
        json!({
            "capability": "mcp.call", "side_effect": "mutating", "network": "external",
            "provided": { "kind": "mcp", "id": "docs", "tool": tag }, "outcome": "executed"
        })
    );
    assert!(!bench.tape.lines().contains("find"), "{}", bench.tape.lines());
}

#[tokio::test]
async fn a_classified_tool_is_judged_as_its_class_and_only_in_that_definition() {
    let bench = bench_with(vec![classified(definition("docs", "find")), tool("docs", "drop")]);
    // Reads and stays: no switch, no question, and plan mode lets it through.
    bench.switch.set(OptIn::Off);
    let outcome = bench.invoke("mcp.call", &envelope("find", json!({ "q": "a" }))).await;
    assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?}");
    assert_eq!(
        only(&bench.last_outcome(), &["side_effect", "network"]),
        json!({ "side_effect": "read_only", "network": "local" })
    );
    let plan = bench.session(1, Mode::Plan, 1);
    let planned = bench.executor.invoke(&plan, proposal("mcp.call", &envelope("find", json!({ "q": "a" })))).await;
    assert_eq!(planned.kind(), Kind::Executed, "{planned:?}");
    // Its neighbour is not.
    let neighbour = bench.invoke("mcp.call", &envelope("drop", json!({ "q": "a" }))).await;
    refused(&neighbour, Code::OptInOff, Diagnostic::PolicyBlocked);
    bench.switch.set(OptIn::On);
    let planned = bench.executor.invoke(&plan, proposal("mcp.call", &envelope("drop", json!({ "q": "a" })))).await;
    refused(&planned, Code::PlanMode, Diagnostic::PolicyBlocked);

    // One changed character, and the classification is about something else.
    let digest = definition("docs", "find").digest();
    let mut other = definition("docs", "find");
    other.description.push('!');
    bench.supplied.set(vec![provider(
        ProviderType::Mcp,
        "docs",
        vec![ProvidedTool::new(other).classified_as(&digest, READS_HERE)],
    )]);
    assert_eq!(bench.invoke("mcp.call", &envelope("find", json!({ "q": "a" }))).await.kind(), Kind::Pending);
}

/// A server's own hints lower nothing, in no mode.
#[tokio::test]
async fn what_a_tool_claims_of_itself_only_raises() {
    let claiming = |claims| ToolDefinition { claims, ..definition("docs", "find") };
    let harmless =
        Claims { read_only: Some(true), destructive: Some(false), idempotent: Some(true), open_world: Some(false) };
    let bench = bench_with(vec![ProvidedTool::new(claiming(harmless))]);
    let call = envelope("find", json!({ "q": "a" }));
    assert_eq!(bench.invoke("mcp.call", &call).await.kind(), Kind::Pending);
    let plan = bench.session(1, Mode::Plan, 1);
    refused(
        &bench.executor.invoke(&plan, proposal("mcp.call", &call)).await,
        Code::PlanMode,
        Diagnostic::PolicyBlocked,
    );

    for (claims, raised) in [
        (harmless, READS_HERE),
        (Claims { read_only: Some(false), ..harmless }, Class::new(SideEffect::Mutating, Network::Local)),
        (Claims { destructive: Some(true), ..harmless }, Class::new(SideEffect::Mutating, Network::Local)),
        (Claims { open_world: Some(true), ..harmless }, Class::new(SideEffect::ReadOnly, Network::External)),
        (Claims::default(), READS_HERE),
    ] {
        let bench = bench_with(vec![classified(claiming(claims))]);
        let outcome = bench.invoke("mcp.call", &call).await;
        let decision = outcome.provider().expect("it was decided");
        assert_eq!(decision.class, raised, "{claims:?}");
        assert_eq!(decision.trace_fields.is_empty(), raised == READS_HERE);
        assert_eq!(outcome.notice().is_some(), raised != READS_HERE);
    }
}

/// An operator can see that what a tool claims of itself cannot all be so, whether or not somebody has classified it.
#[tokio::test]
async fn claims_that_contradict_each_other_are_told() {
    let call = envelope("find", json!({ "q": "a" }));
    let both = Claims { read_only: Some(true), destructive: Some(true), ..Claims::default() };
    let trace = ("claims", "contradictory");
    for (claims, told) in [
        (both, true),
        (Claims { read_only: Some(false), ..both }, false),
        (Claims { destructive: Some(false), ..both }, false),
        (Claims { destructive: None, ..both }, false),
    ] {
        let described = ToolDefinition { claims, ..definition("docs", "find") };
        let of_nobody = bench_with(vec![ProvidedTool::new(described.clone())]);
        let outcome = of_nobody.invoke("mcp.call", &call).await;
        let decision = outcome.provider().expect("it was decided");
        assert_eq!((decision.class, decision.trace_fields.contains(&trace)), (Class::STRICTEST, told), "{claims:?}");
        assert_eq!(outcome.kind(), Kind::Pending, "it is told, and stands against nothing");
        let of_one = bench_with(vec![classified(described)]);
        let outcome = of_one.invoke("mcp.call", &call).await;
        let decision = outcome.provider().expect("it was decided");
        let raised = decision.trace_fields.contains(&("class", "raised_by_claims"));
        let expected = (told, claims.read_only == Some(false) || claims.destructive == Some(true));
        assert_eq!((decision.trace_fields.contains(&trace), raised), expected, "{claims:?}");
    }
}

/// What its author got wrong nobody here can accept: the refusal says which of the faults it is, and no word of the definition.
#[tokio::test]
async fn a_tool_that_is_not_taken_is_refused_with_its_fault() {
    let odd = || definition("docs", "find");
    for (tools, native, fault) in [
        (vec![ToolDefinition { description: "x".repeat(300_000), ..odd() }], "find", DefinitionFault::TooLarge),
        (vec![definition("docs", "fi nd")], "fi nd", DefinitionFault::Name),
        (
            vec![ToolDefinition { input_schema: json!({ "$ref": "https://elsewhere.example/" }), ..odd() }],
            "find",
            DefinitionFault::Schema,
        ),
        (vec![odd(), odd()], "find", DefinitionFault::Duplicate),
    ] {
        let bench = bench_with(tools.into_iter().map(ProvidedTool::new).collect());
        let outcome = bench.invoke("mcp.call", &envelope(native, json!({ "q": "a" }))).await;
        refused(&outcome, Code::ToolNotTaken, Diagnostic::PolicyBlocked);
        let said = format!("{}: {}", Code::ToolNotTaken.message(), fault.why());
        assert_eq!(outcome.message().as_deref(), Some(&*said));
        assert!(outcome.help().is_some_and(|help| help.starts_with("its author has to change it")));
        assert_eq!(
            only(&bench.last_outcome(), &["code", "stage"]),
            json!({ "code": "tool_not_taken", "stage": "policy" })
        );
        let decisions = bench.executor.decisions(&bench.session);
        let decision = decisions.provided(ProviderType::Mcp, "docs", native).expect("it is in sight");
        assert_eq!(
            (decision.admission_status.as_str(), decision.user_visible_message.as_deref()),
            ("policy_blocked", Some(&*said)),
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_apart() {
    let bench = bench();
    let call = |server: &str, native: &str| json!({ "server": server, "tool": native, "arguments": { "q": "a" } });
    for (server, native) in [("docs", "finds"), ("docs", ""), ("doc", "find"), ("docs ", "find")] {
        let outcome = bench.invoke("mcp.call", &call(server, native)).await;
        refused(&outcome, Code::UnknownTool, Diagnostic::UnknownTool);
    }
    let outcome = bench.invoke("edge.call", &json!({ "edge": "docs", "tool": "find", "arguments": {} })).await;
    refused(&outcome, Code::UnsupportedCapability, Diagnostic::UnsupportedCapability);
    refused(&bench.invoke("mcp.cal", &json!({})).await, Code::UnknownCapability, Diagnostic::UnknownTool);

    // What cannot be reached is never absent.
    for reach in [ProviderReach::NotConnected, ProviderReach::Offline("it went away")] {
        for tools in [vec![], vec![tool("docs", "find")]] {
            let state = ProviderState { reach, ..provider(ProviderType::Mcp, "docs", tools) };
            bench.supplied.set(vec![state]);
            let outcome = bench.invoke("mcp.call", &call("docs", "find")).await;
            refused(&outcome, Code::ProviderOffline, Diagnostic::ProviderOffline);
        }
    }
    for standing in [Standing::Changed, Standing::Unbound] {
        bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![tool("docs", "find").standing_at(standing)])]);
        let outcome = bench.invoke("mcp.call", &call("docs", "find")).await;
        match standing {
            Standing::Unbound => refused(&outcome, Code::MissingRuntimeBinding, Diagnostic::MissingRuntimeBinding),
            _ => refused(&outcome, Code::ToolQuarantined, Diagnostic::PolicyBlocked),
        }
    }
    // Another session's provider is nobody's here: there is none of that kind, for all that this session is told.
    let other = bench.session(9, Mode::Live, 1);
    let own = ProviderState {
        whose: Whose::Session(other.identity().id),
        ..provider(ProviderType::Mcp, "docs", vec![tool("docs", "find")])
    };
    bench.supplied.set(vec![own]);
    let outcome = bench.invoke("mcp.call", &call("docs", "find")).await;
    refused(&outcome, Code::UnsupportedCapability, Diagnostic::UnsupportedCapability);
    let outcome = bench.executor.invoke(&other, proposal("mcp.call", &call("docs", "find"))).await;
    assert_eq!(outcome.kind(), Kind::Pending);
    assert_eq!(outcome.provider().map(|decided| decided.route), Some(Route::RequestScopedMcp));
}

#[tokio::test]
async fn a_malformed_call_is_said_to_be_one() {
    let bench = bench();
    for (raw, code) in [
        (r#"{"server":"docs","tool":"find"}"#, Code::SchemaViolation),
        (r#"{"server":"docs","tool":"find","arguments":[]}"#, Code::SchemaViolation),
        (r#"{"server":"docs","tool":"find","arguments":{"q":"a"},"more":1}"#, Code::SchemaViolation),
        (r#"{"server":"docs","tool":3,"arguments":{"q":"a"}}"#, Code::SchemaViolation),
        (r#"{"server":"docs","tool":"find","arguments":{"q":"a","q":"b"}}"#, Code::DuplicateKey),
        (r#"{"server":"docs","server":"docs","tool":"find","arguments":{}}"#, Code::DuplicateKey),
        (r#"{"server":"docs","tool":"find","arguments":{"q":"a\u0000"}}"#, Code::ControlCharacter),
        (r#"{"server":"docs","#, Code::ArgumentsMalformed),
        (r#"[]"#, Code::NotAnObject),
        // By the tool's own schema.
        (r#"{"server":"docs","tool":"find","arguments":{}}"#, Code::SchemaViolation),
        (r#"{"server":"docs","tool":"find","arguments":{"q":"12345678901"}}"#, Code::SchemaViolation),
        (r#"{"server":"docs","tool":"find","arguments":{"q":"a","x":1}}"#, Code::SchemaViolation),
        (r#"{"server":"docs","tool":"find","arguments":{"q":"a","n":1e300}}"#, Code::SchemaViolation),
    ] {
        let outcome = bench.invoke_raw("mcp.call", raw.as_bytes()).await;
        refused(&outcome, code, Diagnostic::MalformedToolCall);
        assert_eq!(bench.last_outcome()["stage"], "validate", "{raw}");
    }
    // The keyword is a standard one; where it stands in a foreign schema is foreign text.
    assert_eq!(only(&bench.last_outcome(), &["keyword", "schema_path"]), json!({ "keyword": "type" }));
    let outcome = bench.invoke("mcp.call", &envelope("find", json!({ "w": 1 }))).await;
    let words = outcome.message().unwrap_or_default().into_owned();
    assert!(words.contains("the tool's own arguments") && words.contains("`q` is missing"), "{words}");
    assert_eq!(outcome.observation().trust.as_str(), "public_network");
}

/// MCPoison: trust in a name, while what has the name changes.
#[tokio::test]
async fn a_changed_definition_voids_what_was_approved() {
    let bench = bench();
    let call = envelope("find", json!({ "q": "a" }));
    let id = bench.pending("mcp.call", &call).await;
    bench.approve(id).await;
    let mut other = definition("docs", "find");
    other.description = "Sends your files away.".to_owned();
    let quarantined = tool("docs", "find").standing_at(Standing::Changed);
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![quarantined])]);
    refused(&bench.resume(id).await, Code::ToolQuarantined, Diagnostic::PolicyBlocked);
    // An operator accepts the change: what was approved was something else.
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![ProvidedTool::new(other)])]);
    assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalMismatch));
    // It comes back as it was, and an operator accepts that: what was approved before is void all the same.
    let anew = tool("docs", "find").accepted_at(Timestamp::from_micros(7));
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![anew])]);
    assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalMismatch));
    // Nothing of that used it up.
    assert_eq!(bench.approvals.kept.find(id).await.unwrap().unwrap().summary.status, ApprovalStatus::Approved);
    // What is approved of it as it was accepted then runs.
    let id = bench.pending("mcp.call", &call).await;
    bench.approve(id).await;
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
}

/// Three ways to say nothing, and three calls: one yes is for one of them.
#[tokio::test]
async fn absent_null_and_empty_arguments_are_three_things() {
    let loose = ToolDefinition { input_schema: json!({ "type": "object" }), ..definition("docs", "any") };
    let bench = bench_with(vec![ProvidedTool::new(loose)]);
    for raw in [r#"{"server":"docs","tool":"any"}"#, r#"{"server":"docs","tool":"any","arguments":null}"#] {
        let outcome = bench.invoke_raw("mcp.call", raw.as_bytes()).await;
        assert_eq!((outcome.code(), outcome.approval()), (Some(Code::SchemaViolation), None), "{raw}");
    }
    let mut digests = Vec::new();
    for arguments in [json!({}), json!({ "a": null }), json!({ "a": {} }), json!({ "a": [] })] {
        let id = bench.pending("mcp.call", &envelope("any", arguments.clone())).await;
        let filed = bench.approvals.kept.find(id).await.unwrap().unwrap().filed.unwrap();
        let sent = envelope("any", arguments.clone());
        assert_eq!(serde_json::from_slice::<Value>(&filed.approval.arguments).unwrap(), sent, "shown as it was sent");
        digests.push(filed.digest);
    }
    for (at, digest) in digests.iter().enumerate() {
        assert!(!digests.iter().skip(at + 1).any(|other| other == digest), "{at} is like another");
    }
}

/// Forms that other languages' generators write: taken, and held to.
#[test]
fn patterns_and_tuples_in_a_schema_are_held_to() {
    let schema = json!({
        "type": "object",
        "properties": {
            "m": { "type": "object", "patternProperties": { "^[0-9]+$": { "type": "string" } }, "additionalProperties": false },
            "t": { "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "string" }], "items": false },
        },
        "additionalProperties": false
    });
    assert_eq!(standing_of(schema.clone()), Standing::Accepted);
    let bench =
        bench_with(vec![ProvidedTool::new(ToolDefinition { input_schema: schema, ..definition("docs", "find") })]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (arguments, kind) in [
        (json!({ "m": { "7": "a" }, "t": [1, "a"] }), Kind::Pending),
        (json!({ "m": { "x": "a" } }), Kind::Rejected),
        (json!({ "m": { "7": 7 } }), Kind::Rejected),
        (json!({ "t": ["a", 1] }), Kind::Rejected),
        (json!({ "t": [1, "a", 2] }), Kind::Rejected),
    ] {
        let outcome = runtime.block_on(bench.invoke("mcp.call", &envelope("find", arguments.clone())));
        assert_eq!(outcome.kind(), kind, "{arguments} {outcome:?}");
    }
}

#[tokio::test]
async fn a_structured_answer_keeps_the_promise_of_its_definition() {
    let promising = ToolDefinition {
        output_schema: Some(json!({
            "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"]
        })),
        ..definition("docs", "find")
    };
    let bench = bench_with(vec![classified(promising)]);
    let call = envelope("find", json!({ "q": "a" }));
    for (structured, is_error, kind) in [
        (Some(json!({ "n": 1, "more": "x" })), false, Kind::Executed),
        (Some(json!({ "n": "1" })), false, Kind::ResultInvalid),
        (None, false, Kind::ResultInvalid),
        (None, true, Kind::Executed),
    ] {
        let reply = ToolReply { structured: structured.clone(), is_error, ..said("x") };
        bench.bindings.answer_tools(move |_| Ok(reply.clone()));
        let outcome = bench.invoke("mcp.call", &call).await;
        assert_eq!(outcome.kind(), kind, "{structured:?} {outcome:?}");
    }
}

/// Knows one value.
struct Knows;

impl Redaction for Knows {
    fn redactor(&self) -> Arc<Redactor> {
        Arc::new(Redactor::new(["12345678"]))
    }
}

/// What is left of a structured answer without a secret may not be what its definition promises: then nothing is left of it.
#[tokio::test]
async fn a_structured_answer_keeps_its_promise_without_its_secrets_or_is_withheld() {
    for (schema, given, kept) in [
        (json!({ "type": "integer" }), json!(12_345_678), false),
        (json!({ "type": "string", "maxLength": 10 }), json!("12345678"), true),
        (json!({ "type": "string", "maxLength": 9 }), json!("12345678"), false),
        (json!({ "type": "string", "maxLength": 9 }), json!("1234567"), true),
        (json!({ "type": "string", "pattern": "^[0-9]+$" }), json!("12345678"), false),
        (json!({ "type": "string", "enum": ["12345678", "b"] }), json!("12345678"), false),
        (json!({ "type": "array", "items": { "type": "string", "maxLength": 9 } }), json!(["12345", "678"]), false),
        (json!({ "type": "array", "items": { "type": "string" } }), json!(["12345", "678"]), true),
    ] {
        let output_schema = json!({ "type": "object", "properties": { "n": schema }, "required": ["n"] });
        let bench = bench_with(vec![classified(ToolDefinition {
            output_schema: Some(output_schema.clone()),
            ..definition("docs", "find")
        })]);
        bench.executor.redact_with(Arc::new(Knows));
        let reply = ToolReply { structured: Some(json!({ "n": given })), ..said("x") };
        bench.bindings.answer_tools(move |_| Ok(reply.clone()));
        let outcome = bench.invoke("mcp.call", &envelope("find", json!({ "q": "a" }))).await;
        let expected = if kept { None } else { Some(Code::ResultRedacted) };
        assert_eq!((outcome.code(), outcome.result().is_some()), (expected, kept), "{output_schema} {outcome:?}");
        assert!(!serde_json::to_string(&outcome).unwrap().contains("12345678"), "{output_schema}");
    }
}

/// Pieces of one answer are read one behind the other.
#[tokio::test]
async fn a_secret_in_two_pieces_of_an_answer_is_taken_out_of_both() {
    let bench = bench_with(vec![classified(definition("docs", "find"))]);
    bench.executor.redact_with(Arc::new(Knows));
    let piece = |text: &str| ToolContent::Text { text: text.to_owned() };
    let reply = ToolReply {
        content: vec![piece("token: 1234"), piece("56"), piece("78.")],
        structured: Some(json!({ "rows": [{ "t": "12345" }, { "t": "678" }] })),
        is_error: false,
    };
    bench.bindings.answer_tools(move |_| Ok(reply.clone()));
    let outcome = bench.invoke("mcp.call", &envelope("find", json!({ "q": "a" }))).await;
    let reply: ToolReply = serde_json::from_str(outcome.result().unwrap()).unwrap();
    let mark = "[redacted]";
    assert_eq!(reply.content, [piece(&format!("token: {mark}")), piece(mark), piece(&format!("{mark}."))]);
    assert_eq!(reply.structured, Some(json!({ "rows": [{ "t": mark }, { "t": mark }] })));
}

#[tokio::test]
async fn what_has_gone_away_meanwhile_delivers_nothing() {
    let bench = bench_with(vec![classified(definition("docs", "find"))]);
    let supplied = Arc::clone(&bench.supplied);
    bench.bindings.answer_tools(move |_| {
        let gone = ProviderState {
            reach: ProviderReach::Offline("it went away"),
            ..provider(ProviderType::Mcp, "docs", vec![classified(definition("docs", "find"))])
        };
        supplied.set(vec![gone]);
        Ok(said("a secret"))
    });
    let outcome = bench.invoke("mcp.call", &envelope("find", json!({ "q": "a" }))).await;
    assert_eq!(outcome.kind(), Kind::Failed, "{outcome:?}");
    assert_eq!(outcome.effect(), Effect::NotStarted, "it reads, and stays");
    assert!(!format!("{:?}", serde_json::to_string(&outcome)).contains("a secret"));
}

/// Cases of one identity that is a pair: no join of its parts names anything.
#[tokio::test]
async fn a_tool_is_a_pair_and_no_joined_name() {
    let bench = Bench::providing(GrantLimits::off());
    bench.supplied.set(vec![
        provider(ProviderType::Mcp, "a_b", vec![classified(definition("a_b", "c"))]),
        provider(ProviderType::Mcp, "a", vec![classified(definition("a", "b_c"))]),
    ]);
    bench.bindings.answer_tools(|_| Ok(said("x")));
    bench.rules("[[rule]]\nid = \"no\"\neffect = \"deny\"\ncapability = \"mcp.call:a\"\nreason = \"not these\"\n");
    let call = |server: &str, native: &str| json!({ "server": server, "tool": native, "arguments": { "q": "a" } });
    let outcome = bench.invoke("mcp.call", &call("a", "b_c")).await;
    refused(&outcome, Code::RuleDeny, Diagnostic::PolicyBlocked);
    assert_eq!(bench.invoke("mcp.call", &call("a_b", "c")).await.kind(), Kind::Executed);
    for (server, native) in [("a", "c"), ("a_b", "b_c"), ("a_b_c", ""), ("a", "b")] {
        let outcome = bench.invoke("mcp.call", &call(server, native)).await;
        refused(&outcome, Code::UnknownTool, Diagnostic::UnknownTool);
    }
}

#[tokio::test]
async fn an_undeclared_provider_is_not_the_subjects() {
    let bench = bench();
    let declaring = bench.declaring(&["mcp.call:other"]);
    let call = envelope("find", json!({ "q": "a" }));
    refused(
        &bench.executor.invoke(&declaring, proposal("mcp.call", &call)).await,
        Code::Undeclared,
        Diagnostic::PolicyBlocked,
    );
    let declaring = bench.declaring(&["mcp.call:docs"]);
    assert_eq!(bench.executor.invoke(&declaring, proposal("mcp.call", &call)).await.kind(), Kind::Pending);
}

/// One capability leads to many tools: a standing answer for one is none for another, and another's question ends it not.
#[tokio::test]
async fn a_grant_for_one_tool_is_none_for_another_and_ends_with_its_definition() {
    let limits = GrantLimits::off().with(
        "mcp.call",
        GrantLimit {
            longest: core::time::Duration::from_secs(600),
            uses: core::num::NonZeroU32::new(10).expect("above zero"),
        },
    );
    let bench = Bench::providing(limits);
    let find = || classified(definition("docs", "find"));
    let drop = || classified(definition("docs", "drop"));
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![find(), drop()])]);
    bench.bindings.answer_tools(|_| Ok(said("x")));
    bench.rules("[[rule]]\nid = \"ask\"\neffect = \"ask\"\ncapability = \"mcp.call:docs\"\n");
    let ask = async |native: &str| bench.invoke("mcp.call", &envelope(native, json!({ "q": "a" }))).await.kind();
    let id = bench.pending("mcp.call", &envelope("find", json!({ "q": "a" }))).await;
    let limit = GrantLimit {
        longest: core::time::Duration::from_secs(60),
        uses: core::num::NonZeroU32::new(5).expect("above zero"),
    };
    let grant = bench.executor.grant(&bench.operator(), id, limit).await.expect("there can be one");
    assert_eq!(ask("find").await, Kind::Executed);
    assert_eq!(ask("drop").await, Kind::Pending);
    assert_eq!(ask("find").await, Kind::Executed, "the question about another tool ended nothing");
    let mut other = definition("docs", "find");
    other.description.push('!');
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![classified(other)])]);
    assert_eq!(ask("find").await, Kind::Pending);
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![find()])]);
    assert_eq!(ask("find").await, Kind::Pending, "ended is ended");
    let grants = bench.executor.grants(&bench.operator()).await.expect("memory answers");
    let ended = grants.into_iter().find(|own| own.id == grant.id).and_then(|own| own.ended);
    assert_eq!(ended, Some(GrantEnd::DefinitionChanged));
    // One that nobody used while the tool was another one has ended as well: the tool was accepted anew.
    let id = bench.pending("mcp.call", &envelope("find", json!({ "q": "a" }))).await;
    bench.executor.grant(&bench.operator(), id, limit).await.expect("there can be one");
    assert_eq!(ask("find").await, Kind::Executed);
    let anew = find().accepted_at(Timestamp::from_micros(7));
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![anew])]);
    assert_eq!(ask("find").await, Kind::Pending);
    // Without a classification there can be none at all.
    bench.supplied.set(vec![provider(ProviderType::Mcp, "docs", vec![tool("docs", "find")])]);
    let id = bench.pending("mcp.call", &envelope("find", json!({ "q": "a" }))).await;
    assert!(bench.executor.grant(&bench.operator(), id, limit).await.is_err());
}

fn standing_of(input_schema: Value) -> Standing {
    ProvidedTool::new(ToolDefinition { input_schema, ..definition("docs", "find") }).standing()
}

#[test]
fn a_schema_that_cannot_be_enforced_is_not_taken() {
    let faulty = Standing::Faulty(DefinitionFault::Schema);
    let deep = (0..70).fold(json!({ "type": "string" }), |inner, _| json!({ "not": inner }));
    // Each doubles what the one before unfolds to.
    let doubling: serde_json::Map<_, _> = (0..40)
        .map(|at| {
            let next = format!("#/$defs/d{}", at + 1);
            (format!("d{at}"), json!({ "anyOf": [{ "$ref": next.clone() }, { "not": { "$ref": next } }] }))
        })
        .chain([("d40".to_owned(), json!({ "type": "string" }))])
        .collect();
    for schema in [
        json!(true),
        json!("object"),
        json!({ "$ref": "https://elsewhere.example/schema" }),
        json!({ "$ref": "other.json#/a" }),
        json!({ "$ref": "#/$defs/none" }),
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/a" }, { "type": "string" }] } } }),
        json!({ "definitions": { "a": { "$ref": "#/definitions/b" }, "b": { "$ref": "#/definitions/a" } }, "$ref": "#/definitions/a" }),
        json!({ "properties": { "a": { "$id": "https://elsewhere.example/", "type": "string" } } }),
        json!({ "properties": { "a": { "$dynamicRef": "#x" } } }),
        json!({ "properties": { "a": { "type": "string", "pattern": "(?=a)b" } } }),
        json!({ "properties": ["a"] }),
        json!({ "properties": { "a": { "type": "nothing" } } }),
        json!({ "properties": { "a": deep } }),
        json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": doubling }),
    ] {
        assert_eq!(standing_of(schema.clone()), faulty, "{}", &schema.to_string()[..schema.to_string().len().min(200)]);
    }
    for schema in [
        json!({ "type": "object" }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {} }),
        // A tree, and a type that two others share.
        json!({
            "type": "object",
            "properties": { "tree": { "$ref": "#/$defs/node" }, "a": { "$ref": "#/$defs/text" }, "b": { "$ref": "#/$defs/text" } },
            "$defs": {
                "node": { "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/node" } } } },
                "text": { "type": "string", "pattern": "^[a-z]+$" }
            }
        }),
    ] {
        assert_eq!(standing_of(schema.clone()), Standing::Accepted, "{schema}");
    }
    let named = |native: &str| ProvidedTool::new(definition("docs", native)).standing();
    for wrong in ["", "a b", "a\n", "a\u{202e}b", &"x".repeat(129)] {
        assert_eq!(named(wrong), Standing::Faulty(DefinitionFault::Name), "{wrong:?}");
    }
    let large = ToolDefinition { description: "x".repeat(300_000), ..definition("docs", "find") };
    assert_eq!(ProvidedTool::new(large).standing(), Standing::Faulty(DefinitionFault::TooLarge));
    // Whatever is said of it later.
    let faulty = ProvidedTool::new(ToolDefinition { input_schema: json!(1), ..definition("docs", "find") });
    assert_eq!(faulty.standing_at(Standing::Accepted).standing(), Standing::Faulty(DefinitionFault::Schema));
}

/// Schemas as anybody may write them, out of everything that makes one hard.
fn any_schema() -> impl Strategy<Value = Value> {
    let reference = (0..4_usize).prop_map(|at| json!({ "$ref": format!("#/$defs/d{at}") }));
    let leaf = prop_oneof![
        Just(json!({ "type": "string", "minLength": 1 })),
        Just(json!({ "type": "integer", "multipleOf": 3 })),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({ "enum": [1, "a", null] })),
        reference,
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let several = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (prop_oneof![Just("anyOf"), Just("oneOf"), Just("allOf")], several)
                .prop_map(|(word, own)| json!({ word: own })),
            inner.clone().prop_map(|own| json!({ "type": "array", "items": own, "uniqueItems": true })),
            inner.clone().prop_map(|own| json!({ "not": own })),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({ "properties": { "a": a, "b": b }, "additionalProperties": false })),
            (inner.clone(), inner).prop_map(|(a, b)| json!({ "if": a, "then": b, "unevaluatedProperties": false })),
        ]
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(null)), Just(json!(3)), Just(json!("a")), any::<i64>().prop_map(Value::from)];
    leaf.prop_recursive(6, 48, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            (inner.clone(), inner).prop_map(|(a, b)| json!({ "a": a, "b": b })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    /// Whatever schema and value: an answer comes, and what is accepted is the validator's own word.
    #[test]
    fn no_schema_that_somebody_writes_makes_checking_endless(
        root in any_schema(),
        parts in prop::collection::vec(any_schema(), 4),
        value in any_value(),
    ) {
        let defs: serde_json::Map<_, _> = parts.into_iter().enumerate().map(|(at, own)| (format!("d{at}"), own)).collect();
        let schema = json!({ "type": "object", "properties": { "v": root }, "required": ["v"], "$defs": defs });
        let tool = ProvidedTool::new(ToolDefinition { input_schema: schema.clone(), ..definition("docs", "find") });
        if tool.standing() == Standing::Accepted {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let arguments = json!({ "v": value });
            let bench = bench_with(vec![tool]);
            let outcome = runtime.block_on(bench.invoke("mcp.call", &envelope("find", arguments.clone())));
            let oracle = capability_core::__validation::oracle(&schema, &arguments);
            if let Some(oracle) = oracle {
                prop_assert_eq!(outcome.kind() == Kind::Pending, oracle, "{} {} {:?}", schema, arguments, outcome);
            }
        }
    }
}
