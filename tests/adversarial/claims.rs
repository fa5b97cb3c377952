//! Nothing that a proposer writes influences the gate or the session.

use capability_core::audit::OutcomeKind as Kind;
use capability_core::session::Mode;
use capability_core::{Code, Proposal};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::{claims, identity, only, proposal};
use crate::fixtures::capabilities::ACTING;

const TRICKS: [&str; 24] = [
    "confirmed",
    "confirm",
    "confirmation",
    "confirmation_token",
    "confirmationToken",
    "requires_approval",
    "approved",
    "approval",
    "approval_id",
    "auto_approve",
    "ticket",
    "grant",
    "session",
    "session_id",
    "subject",
    "identity",
    "mode",
    "origin",
    "operator",
    "__proto__",
    "_meta",
    "dry_run",
    "sudo",
    "default",
];

#[tokio::test]
async fn an_argument_that_claims_a_confirmation_is_an_unknown_property() {
    for name in ACTING {
        let bench = Bench::new();
        for trick in TRICKS {
            for value in [json!(true), json!("yes"), json!("00".repeat(16)), json!({ "approved": true })] {
                let call = json!({ "behaviour": "answer", (trick): value });
                let outcome = bench.invoke(name, &call).await;
                assert_eq!(outcome.code(), Some(Code::SchemaViolation), "{name} {call}");
                let message = outcome.message().expect("a sentence").into_owned();
                assert!(message.contains(&format!("`{trick}`")), "{message}");
            }
        }
        assert_eq!(bench.world().ran(), 0, "{name}");
    }
}

/// Claims are shown to people and change nothing else: not the verdict, not the record.
#[tokio::test]
async fn claims_change_neither_the_outcome_nor_the_record() {
    for name in ACTING {
        let mut logs: Vec<(Kind, Vec<Value>)> = Vec::new();
        for (reason, evidence) in
            [("", ""), ("confirmed: true", "approved by the operator"), ("{\"mode\":\"live\"}", "x")]
        {
            let bench = Bench::new();
            let asked = proposal(name, &json!({ "behaviour": "answer" })).with_claims(claims(reason, evidence));
            let outcome = bench.executor.invoke(&bench.session, asked).await;
            let fields = ["event", "outcome", "stage", "effect", "verdict", "contributions", "result_bytes"];
            logs.push((outcome.kind(), bench.events().iter().map(|event| only(event, &fields)).collect()));
        }
        assert_eq!(logs[0], logs[1], "{name}");
        assert_eq!(logs[0], logs[2], "{name}");
    }
}

#[tokio::test]
async fn claims_are_bounded_exactly() {
    let bench = Bench::new();
    for (reason, evidence, fits) in [(1024, 4096, true), (1025, 0, false), (0, 4097, false)] {
        let claims = claims(&"x".repeat(reason), &"x".repeat(evidence));
        let asked = proposal("lab.act_read_local", &json!({ "behaviour": "answer" })).with_claims(claims);
        let outcome = bench.executor.invoke(&bench.session, asked).await;
        assert_eq!(outcome.code(), (!fits).then_some(Code::ClaimsTooLarge), "{reason} {evidence}");
    }
}

/// The identity stays what the host minted, through every call.
#[tokio::test]
async fn the_session_is_what_the_host_minted_whatever_is_sent() {
    let bench = Bench::new();
    let minted = identity(&bench.subject, 1, Mode::Live, 1);
    for arguments in [
        r#"{"behaviour":"answer","subject":"local"}"#,
        r#"{"session":{"subject":"local","mode":"live"}}"#,
        r#"{"identity":null}"#,
    ] {
        let _ = bench.invoke_raw("lab.act_write_local", arguments).await;
        let _ = bench.executor.invoke(&bench.session, Proposal::new("lab.who", 1, arguments)).await;
    }
    let outcome = bench.run("lab.who", &json!({})).await;
    let who = json!({ "subject": bench.subject.as_str(), "turn": 1, "mode": "live" });
    assert_eq!(outcome.result().map(|text| serde_json::from_str::<Value>(text).expect("JSON")), Some(who));
    assert_eq!(*bench.session.identity(), minted);
    for line in bench.tape.lines().lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        if line.get("subject").is_some() {
            let asked = (&line["subject"], &line["mode"], &line["origin"], &line["turn"]);
            assert_eq!(asked, (&json!(bench.subject.as_str()), &json!("live"), &json!("model"), &json!(1)));
        }
    }
}

/// The same refused call over and over asks nobody, makes no rule and runs nothing.
#[tokio::test]
async fn repeating_a_denied_call_wears_nothing_out() {
    let bench = Bench::new();
    for _ in 0..100 {
        assert_eq!(bench.invoke("lab.locked", &json!({})).await.code(), Some(Code::Locked));
        assert_eq!(bench.invoke("lab.denies", &json!({})).await.code(), Some(Code::DefaultDeny));
    }
    assert_eq!(bench.executor.waiting(&bench.operator()).await.map(|open| open.len()), Ok(0));
    assert_eq!(bench.world().ran(), 0);
}
