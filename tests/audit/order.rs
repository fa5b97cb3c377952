//! Which records there are, in which order.

use capability_core::contract::Class;
use capability_core::{Code, Proposal};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::capabilities::ACTING;

fn names(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| event["event"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn an_intent_precedes_whatever_leaves_a_trace_and_nothing_else() {
    for (name, class) in ACTING.into_iter().zip(Class::ALL) {
        let bench = Bench::new();
        let outcome = bench.run(name, &json!({ "behaviour": "answer" })).await;
        assert!(outcome.result().is_some(), "{name}");
        let expected: &[&str] = if class == Class::ALL[0] {
            &["policy_decision", "outcome"]
        } else {
            &["policy_decision", "outcome", "approval", "policy_decision", "intent", "outcome"]
        };
        assert_eq!(names(&bench.events()), expected, "{name}");
    }
}

/// The whole log of one approved call, field by field.
#[tokio::test]
async fn the_whole_log_of_one_approved_call() {
    let bench = Bench::new();
    let id = bench.pending("lab.once", &json!({ "text": "t" })).await;
    bench.approve(id).await;
    let _ = bench.resume(id).await;
    let clear = |who: &str| json!({ "contributor": who, "verdict": "allow", "code": "clear" });
    let asked = json!({
        "capability": "lab.once", "version": 1, "side_effect": "mutating", "network": "external", "mode": "live",
    });
    let with = |more: Value| {
        let mut event = asked.clone();
        let fields = event.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        event
    };
    let decision = with(json!({
        "event": "policy_decision",
        "verdict": "ask_fresh",
        "contributions": [
            clear("locked"), clear("declared"), clear("mode"), clear("opt_in"), clear("binding"),
            { "contributor": "floor", "verdict": "ask_fresh", "code": "floor_required" },
            clear("operator_rules"), clear("workspace_rules"), clear("package_rules"), clear("delegation"),
            clear("guard"), clear("fault"),
        ],
    }));
    let guarantees = json!({ "isolation": "none", "deadline": "cooperative" });
    let intent = with(json!({ "event": "intent", "approval": id, "isolation": "none", "deadline": "cooperative" }));
    let pending = with(json!({
        "event": "outcome", "outcome": "pending", "stage": "confirm", "effect": "not_started", "approval": id,
    }));
    let mut executed = with(json!({
        "event": "outcome", "outcome": "executed", "stage": "execute", "effect": "completed", "approval": id,
        "result_bytes": r#"{"text":"t"}"#.len(),
    }));
    executed.as_object_mut().expect("an object").extend(guarantees.as_object().expect("an object").clone());
    let answered = json!({ "event": "approval", "approval": id, "step": "approved", "operator": "operator:anna" });
    assert_eq!(bench.events(), [decision.clone(), pending, answered, decision, intent, executed]);
}

/// Whoever reached policy has one decision; whoever did not has none.
#[tokio::test]
async fn there_is_one_policy_decision_for_each_call_that_reached_policy() {
    let bench = Bench::new();
    for (name, arguments, decisions) in [
        ("lab.nothing", "{}", 0),
        ("lab.act_read_local", "[", 0),
        ("lab.checked", r#"{"from":2,"to":1}"#, 0),
        ("lab.faulty_schema", r#"{"text":"b"}"#, 0),
        ("lab.locked", "{}", 1),
        ("lab.needs_service", "{}", 1),
        ("lab.denies", "{}", 1),
        ("lab.asks", "{}", 1),
        ("lab.checked", r#"{"from":1,"to":1}"#, 1),
    ] {
        let before = bench.events().len();
        let _ = bench.executor.invoke(&bench.session, Proposal::new(name, 1, arguments)).await;
        let events = names(&bench.events()[before..]);
        assert_eq!(events.iter().filter(|event| *event == "policy_decision").count(), decisions, "{name} {arguments}");
        assert_eq!(events.last().map(String::as_str), Some("outcome"), "{name} {arguments}");
    }
}

/// A call that names nothing is recorded without a name: what was sent is not a name.
#[tokio::test]
async fn an_unknown_capability_is_recorded_without_its_name() {
    let bench = Bench::new();
    let outcome = bench.invoke("lab.secret_plan", &json!({})).await;
    assert_eq!(outcome.code(), Some(Code::UnknownCapability));
    let expected = json!({
        "event": "outcome", "mode": "live", "outcome": "rejected", "stage": "resolve", "code": "unknown_capability",
        "effect": "not_started",
    });
    assert_eq!(bench.events(), [expected]);
}

/// Receipts are the numbers of the records they are for.
#[tokio::test]
async fn every_receipt_is_the_number_of_its_outcome_record() {
    let bench = Bench::new();
    for name in ["lab.nothing", "lab.locked", "lab.asks", "lab.who"] {
        let outcome = bench.invoke(name, &json!({})).await;
        let receipt = outcome.receipt().expect("the log is up");
        assert_eq!(usize::try_from(receipt.seq), Ok(bench.events().len()), "{name}");
    }
}

/// Every invocation has an id of its own, across all that run at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invocations_are_told_apart() {
    let bench = std::sync::Arc::new(Bench::new());
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let bench = std::sync::Arc::clone(&bench);
            tokio::spawn(async move { bench.invoke("lab.asks", &json!({})).await.kind() })
        })
        .collect();
    for task in tasks {
        let _ = task.await.expect("no panic");
    }
    assert_eq!(bench.outcomes_per_invocation(), [1; 100]);
}
