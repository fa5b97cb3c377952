//! `provider.call` and `tool.call`: a provider's tools, declared by provider or one by one.

use capability_core::Code;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::handle::{ToolContent, ToolReply};
use capability_core::provider::ProviderType;
use capability_core::session::{Declarations, Demand, Session};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::proposal;
use crate::fixtures::providers::{provider, tool};

fn bench() -> Bench {
    let bench = Bench::providing(capability_core::approval::GrantLimits::off());
    let docs =
        provider(ProviderType::Mcp, "docs", vec![tool("docs", "find"), tool("docs", "drop"), tool("docs", "a/b")]);
    let other = provider(ProviderType::Mcp, "other", vec![tool("other", "find")]);
    bench.supplied.set(vec![docs, other]);
    let text = || ToolContent::Text { text: "found".to_owned() };
    bench.bindings.answer_tools(move |_| Ok(ToolReply { content: vec![text()], structured: None, is_error: false }));
    bench
}

const ALL: [(&str, &str); 4] = [("docs", "find"), ("docs", "drop"), ("docs", "a/b"), ("other", "find")];

fn call(server: &str, native: &str) -> Value {
    json!({ "server": server, "tool": native, "arguments": { "q": "a" } })
}

/// What a call of each tool comes to, and what is listed of them: one and the same, or this fails.
async fn reached(bench: &Bench, session: &Session) -> Vec<(&'static str, &'static str)> {
    let decisions = bench.executor.decisions(session);
    let mut reached = Vec::new();
    for (server, native) in ALL {
        let outcome = bench.executor.invoke(session, proposal("mcp.call", &call(server, native))).await;
        let is_denied = match (outcome.kind(), outcome.code()) {
            (Kind::Pending, None) => false,
            (Kind::Rejected, Some(Code::Undeclared)) => true,
            _ => panic!("{server} {native}: {outcome:?}"),
        };
        let of = |decision: &&std::sync::Arc<capability_core::provider::ProviderDecision>| {
            &*decision.provider_id == server && &*decision.native_id == native
        };
        let listed = decisions.iter().find(of).and_then(|decision| decision.code());
        assert_eq!(listed, is_denied.then_some(Code::Undeclared), "{server} {native}");
        if !is_denied {
            reached.push((server, native));
        }
    }
    reached
}

#[tokio::test]
async fn a_tool_is_declared_with_its_provider_or_by_itself_and_what_is_not_is_denied_and_not_there() {
    let bench = bench();
    for (declared, expected) in [
        (&["tool.call:docs/find"][..], &ALL[..1]),
        (&["tool.call:docs/a/b"], &ALL[2..3]),
        (&["tool.call:docs/find", "tool.call:other/find"], &[ALL[0], ALL[3]]),
        (&["provider.call:docs"], &ALL[..3]),
        (&["provider.call:*"], &ALL[..]),
        (&["mcp.call:other"], &ALL[3..]),
        (&["tool.call:docs/fin", "tool.call:docs/finder", "tool.call:find", "provider.call:doc", "provider.call"], &[]),
        (&["edge.call:*", "mcp.connect:*", "tool.call:mcp.call"], &[]),
    ] {
        assert_eq!(reached(&bench, &bench.declaring(declared)).await, expected, "{declared:?}");
    }
}

#[tokio::test]
async fn what_a_manifest_asks_of_a_tool_or_a_provider_is_asked_of_their_calls() {
    let bench = bench();
    let parse = |text: &str| text.parse().expect("a declaration");
    let declared = Declarations::only(vec![parse("provider.call:docs")]);
    let session = bench.with_manifest(declared.demanding(
        vec![(parse("tool.call:docs/drop"), Demand::Deny), (parse("provider.call:docs"), Demand::Ask)],
        None,
    ));
    let outcome = bench.executor.invoke(&session, proposal("mcp.call", &call("docs", "drop"))).await;
    assert_eq!(outcome.code(), Some(Code::ManifestDeny), "{outcome:?}");
    let outcome = bench.executor.invoke(&session, proposal("mcp.call", &call("docs", "find"))).await;
    assert_eq!(outcome.kind(), Kind::Pending, "{outcome:?}");
}

/// The nearest of those that are declared: a name that is not is told to nobody.
#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest_that_is_declared() {
    let bench = bench();
    for (declared, near) in [
        (&["provider.call:docs"][..], Some("`find`")),
        (&["tool.call:docs/find"], Some("`find`")),
        (&["tool.call:docs/drop"], None),
        (&["provider.call:other"], None),
        (&["subject.note"], None),
    ] {
        let session = bench.declaring(declared);
        let outcome = bench.executor.invoke(&session, proposal("mcp.call", &call("docs", "fnid"))).await;
        assert_eq!((outcome.kind(), outcome.code()), (Kind::Rejected, Some(Code::UnknownTool)), "{declared:?}");
        let help = outcome.help().expect("there is a help").into_owned();
        match near {
            Some(near) => assert!(help.contains(near), "{declared:?}: {help}"),
            None => assert!(!help.contains("find") && !help.contains("drop"), "{declared:?}: {help}"),
        }
    }
    assert!(!bench.tape.lines().contains("find"), "{}", bench.tape.lines());
}

/// What is told of a subject is what happens to its calls.
#[tokio::test]
async fn a_self_model_knows_the_tools_that_are_declared() {
    let bench = bench();
    let of = |declared: &[&str]| {
        let model = bench.executor.self_model(&bench.declaring(declared));
        let item = model.capabilities.into_iter().find(|item| item.capability == "mcp.call");
        item.map(|item| item.ends.into_iter().map(|end| (end.code, end.witness.and_then(|call| call.target))).collect())
    };
    let ends: Vec<(Code, Option<String>)> = of(&["tool.call:docs/find"]).expect("it is told");
    assert!(
        ends.iter().any(|(code, target)| *code != Code::Undeclared && target.as_deref() == Some("find")),
        "{ends:?}"
    );
    assert!(ends.iter().any(|(code, _)| *code == Code::Undeclared), "{ends:?}");
    assert!(of(&["provider.call:*"]).is_some() && of(&["fs.read"]).is_none());
}
