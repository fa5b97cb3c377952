//! What a manifest declares: necessary for every call, sufficient for none.

use std::sync::atomic::Ordering;

use capability_core::policy::OptIn;
use capability_core::session::{Declarations, Demand, Mode};
use capability_core::{Code, Concern, Outcome, Raise};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::proposal;

const ANSWER: &str = r#"{"behaviour":"answer"}"#;

fn declarations(listed: &[&str]) -> Declarations {
    Declarations::only(listed.iter().map(|text| text.parse().expect("a declaration")).collect())
}

/// A call in a session that declares it.
async fn declared(bench: &Bench, name: &str, arguments: &str) -> Outcome {
    let arguments: Value = serde_json::from_str(arguments).expect("JSON");
    bench.executor.invoke(&bench.declaring(&[name]), proposal(name, &arguments)).await
}

/// Each later check refuses or asks by itself, whatever is declared.
#[tokio::test]
async fn a_declaration_is_necessary_and_never_sufficient() {
    let bench = Bench::new();
    let nobody = bench.executor.invoke(&bench.declaring(&[]), proposal("lab.look", &json!({}))).await;
    assert_eq!(nobody.code(), Some(Code::Undeclared));
    assert!(declared(&bench, "lab.look", "{}").await.result().is_some());
    let ran = bench.world().ran();

    for (name, arguments, code) in [
        ("lab.checked", r#"{"from":2,"to":1}"#, Code::CheckRefused),
        ("lab.locked", "{}", Code::Locked),
        ("lab.denies", "{}", Code::DefaultDeny),
        ("lab.needs_service", "{}", Code::MissingRuntimeBinding),
    ] {
        assert_eq!(declared(&bench, name, arguments).await.code(), Some(code), "{name}");
    }
    for name in ["lab.act_read_external", "lab.act_write_local", "lab.act_write_external"] {
        assert!(declared(&bench, name, ANSWER).await.approval().is_some(), "{name}");
    }
    assert!(declared(&bench, "lab.asks", "{}").await.approval().is_some());
    bench.switch.set(OptIn::Off);
    assert_eq!(declared(&bench, "lab.act_read_external", ANSWER).await.code(), Some(Code::OptInOff));
    bench.world().set_raise(Some(Raise::deny(Concern::ProtectedPath)));
    assert_eq!(declared(&bench, "lab.look", "{}").await.code(), Some(Code::ProtectedPath));
    bench.world().set_raise(Some(Raise::ask_fresh(Concern::SensitivePath)));
    assert!(declared(&bench, "lab.look", "{}").await.approval().is_some());
    bench.world().set_raise(None);
    // In plan mode, and below somebody who does not declare it.
    let planning = bench.session(1, Mode::Plan, 1);
    let write = proposal("lab.act_write_local", &json!({ "behaviour": "answer" }));
    assert_eq!(bench.executor.invoke(&planning, write).await.code(), Some(Code::PlanMode));
    let child = bench.acting_for(&bench.declaring(&["lab.asks"]));
    assert_eq!(bench.executor.invoke(&child, proposal("lab.look", &json!({}))).await.code(), Some(Code::Delegation));
    bench.rules("[[rule]]\nid = \"no\"\neffect = \"deny\"\nreason = \"not here\"\n");
    assert_eq!(declared(&bench, "lab.look", "{}").await.code(), Some(Code::RuleDeny));
    bench.rules("");
    bench.runner.unisolated.store(true, Ordering::SeqCst);
    assert_eq!(declared(&bench, "lab.look", "{}").await.code(), Some(Code::IsolationUnavailable));
    assert_eq!(bench.world().ran(), ran, "nothing of this ran");
}

/// A manifest's own words ask for more, and an `auto` in it has no way to be heard.
#[tokio::test]
async fn a_manifest_asks_and_denies_and_allows_nothing() {
    let bench = Bench::new();
    let demands = |listed: &[(&str, Demand)]| {
        let listed = listed.iter().map(|(text, demand)| (text.parse().expect("a declaration"), *demand)).collect();
        Declarations::everything().demanding(listed, None)
    };
    let asking = bench.with_manifest(demands(&[("lab.look", Demand::Ask), ("lab.asks", Demand::Deny)]));
    let call = async |name: &str, arguments: Value| bench.executor.invoke(&asking, proposal(name, &arguments)).await;
    assert!(call("lab.look", json!({})).await.approval().is_some());
    let said = bench.events()[0]["contributions"][1].clone();
    assert_eq!(said, json!({ "contributor": "declared", "verdict": "ask", "code": "manifest_ask" }));
    assert_eq!(call("lab.asks", json!({})).await.code(), Some(Code::ManifestDeny));
    assert!(call("lab.typed", json!({ "text": "even" })).await.approval().is_none());

    // Whoever acts for somebody is held to that one's manifest too.
    let child = bench.acting_for(&asking);
    let outcome = bench.executor.invoke(&child, proposal("lab.asks", &json!({}))).await;
    assert_eq!(outcome.code(), Some(Code::Delegation));
}

/// An author's own check of what the subject declares.
#[tokio::test]
async fn a_body_goes_on_only_with_what_it_requires() {
    let bench = Bench::new();
    let call = async |listed: &[&str], declaration: &str| {
        let session = bench.with_manifest(declarations(&[&["lab.requires"], listed].concat()));
        bench.executor.invoke(&session, proposal("lab.requires", &json!({ "declaration": declaration }))).await
    };
    for (listed, declaration, goes_on) in [
        (&["fs.read"][..], "fs.read", true),
        (&[], "fs.read", false),
        (&["fs.read"], "fs.write", false),
        (&["mcp.call:docs"], "mcp.call:docs", true),
        (&["mcp.call:*"], "mcp.call:docs", true),
        (&["mcp.call:other"], "mcp.call:docs", false),
        (&["secret.bind:A"], "secret.bind:B", false),
        (&["fs.read"], "no declaration", false),
    ] {
        let outcome = call(listed, declaration).await;
        assert_eq!(outcome.result().is_some(), goes_on, "{listed:?} {declaration}: {outcome:?}");
    }
    let refused = call(&[], "fs.read").await;
    let said = refused.message().unwrap_or_default();
    assert!(said.contains("does not declare `fs.read`"), "{said}");

    // What a manifest denies or asks about is not gone on with, whatever it declares.
    let demanding = async |demand: Demand, all: bool, above: bool| {
        let own = declarations(&["lab.requires", "tool.call:lint"]);
        let asking = if all {
            own.demanding(vec![], Some(demand))
        } else {
            own.demanding(vec![("tool.call:lint".parse().expect("a declaration"), demand)], None)
        };
        let session = bench.with_manifest(asking);
        let session = if above { bench.acting_for(&session) } else { session };
        let body = proposal("lab.requires", &json!({ "declaration": "tool.call:lint" }));
        let outcome = bench.executor.invoke(&session, body).await;
        (outcome.result().is_some(), outcome.message().unwrap_or_default().into_owned())
    };
    for above in [false, true] {
        let (goes_on, said) = demanding(Demand::Deny, false, above).await;
        assert!(!goes_on && said.contains("manifest denies `tool.call:lint`"), "{above}: {said}");
        let (goes_on, said) = demanding(Demand::Ask, false, above).await;
        assert!(!goes_on && said.contains("nobody can be asked in the middle of a call"), "{above}: {said}");
        assert!(!demanding(Demand::Deny, true, above).await.0, "nothing runs at all");
    }

    // A component that acts for another has what both declare.
    let parent = bench.declaring(&["lab.requires"]);
    let child = bench.acting_for(&parent);
    let outcome = bench.executor.invoke(&child, proposal("lab.requires", &json!({ "declaration": "fs.read" }))).await;
    assert!(outcome.result().is_none());
}

/// What one slot asked for is gone on with in that slot: another one's manifest is no word about it.
#[tokio::test]
async fn what_a_slot_asked_for_is_resumed_in_no_other_one() {
    let bench = Bench::new();
    let (planner, writer) = (bench.in_slot("planner"), bench.in_slot("writer"));
    let asked = bench.executor.invoke(&planner, proposal("lab.asks", &json!({}))).await;
    let id = asked.approval().expect("it waits");
    for other in [&writer, &bench.session] {
        assert_eq!(bench.executor.resume(other, id).await.code(), Some(Code::ApprovalUnknown));
    }
    bench.executor.answer(&bench.operator(), id, capability_core::store::Answer::Approve).await.expect("an answer");
    for other in [&writer, &bench.session] {
        assert_eq!(bench.executor.resume(other, id).await.code(), Some(Code::ApprovalUnknown));
    }
    assert!(bench.executor.resume(&planner, id).await.result().is_some());
}
