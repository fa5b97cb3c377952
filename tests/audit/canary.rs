//! Words planted wherever a caller, an author or an operator can put words; none of them is in the log.

use std::cell::Cell;

use capability_core::approval::{GrantLimit, GrantLimits, PastCall};
use capability_core::audit::OutcomeKind;
use capability_core::handle::BrokerRequest;
use capability_core::store::Answer;
use capability_core::{Code, Proposal};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::claims;
use crate::fixtures::capabilities::{ACTING, Behaviour};

/// Words that occur nowhere else, each once.
#[derive(Default)]
struct Canaries(Cell<u32>);

impl Canaries {
    fn next(&self) -> String {
        self.0.set(self.0.get() + 1);
        format!("canary{:04}q", self.0.get())
    }
}

/// What a host may print for itself while it looks for a mistake: none of it holds what somebody wrote.
#[tokio::test]
async fn no_debug_form_holds_content() {
    let bench = Bench::new();
    let printed = |what: &dyn core::fmt::Debug| {
        let text = format!("{what:?} {what:#?}");
        assert!(!text.contains("sesame"), "{text}");
        // Bytes as numbers are content too.
        assert!(!text.contains("115, 101, 115"), "{text}");
    };
    let arguments = json!({ "behaviour": "answer", "text": "sesame" }).to_string();
    printed(&Proposal::new("lab.act_read_local", 1, arguments).with_claims(claims("sesame", "sesame")));
    for behaviour in Behaviour::ALL {
        printed(&bench.invoke("lab.act_read_local", &json!({ "behaviour": behaviour, "text": "sesame" })).await);
    }
    printed(&bench.invoke("lab.act_read_local", &json!({ "sesame": "sesame" })).await);
    let asked = Proposal::new("lab.edit", 1, json!({ "preview": "text", "text": "sesame" }).to_string());
    let asked = asked.with_claims(claims("sesame", "sesame"));
    let id = bench.executor.invoke(&bench.session, asked).await.approval().expect("pending");
    printed(&bench.found(id).await);
    printed(&Answer::Deny { reason: None, note: Some("sesame".to_owned()) });
    bench.deny(id, Some("sesame")).await;
    printed(&bench.found(id).await);
    printed(&bench.resume(id).await);
    printed(&BrokerRequest::Append { text: "sesame".to_owned() });
    printed(&bench.executor.history(&bench.session, 9).await);
    // What stands beside answers: a changed call, a grant, and what is retained.
    let limit = GrantLimit { longest: core::time::Duration::from_secs(60), uses: core::num::NonZeroU32::MIN };
    let bench = Bench::granting(GrantLimits::off().with("lab.repo", limit));
    let id = bench.pending("lab.repo", &json!({ "repository": "sesame", "op": "sesame" })).await;
    printed(&bench.executor.grant_preview(&bench.operator(), id).await);
    let past = bench.found(id).await.and_then(|found| found.filed).expect("content").approval;
    printed(&PastCall {
        approval: past.id,
        subject: past.identity.subject,
        capability: past.capability,
        version: past.version,
        arguments: past.arguments,
        target: past.target,
        at: past.created_at,
    });
    let changed = json!({ "repository": "sesame", "op": "sesame!" }).to_string();
    printed(&bench.executor.edit(&bench.operator(), &bench.session, id, changed).await);
    let id = bench.pending("lab.repo", &json!({ "repository": "sesame" })).await;
    printed(&bench.executor.grant(&bench.operator(), id, limit).await);
    printed(&bench.executor.grants(&bench.operator()).await);
    assert!(!bench.tape.lines().contains("sesame"));
}

/// Every fixture with canaries in everything that can be said to it.
fn calls(canaries: &Canaries) -> Vec<(String, String)> {
    let next = || canaries.next();
    let mut calls: Vec<(String, String)> = Vec::new();
    for name in ACTING {
        for behaviour in Behaviour::ALL {
            calls.push((name.to_owned(), json!({ "behaviour": behaviour, "text": next() }).to_string()));
        }
        calls.push((name.to_owned(), json!({ "behaviour": next() }).to_string()));
        calls.push((name.to_owned(), json!({ "behaviour": "answer", (next()): next() }).to_string()));
    }
    for preview in ["show", "fail", "fail_public", "panic", "panic_late", "hang", "too_long", "text"] {
        calls.push(("lab.edit".to_owned(), json!({ "preview": preview, "text": next() }).to_string()));
    }
    for (name, arguments) in [
        ("lab.once", json!({ "text": next() })),
        ("lab.says_why", json!({ "text": next() })),
        ("lab.asks", json!({ "text": next() })),
        ("lab.asks_too", json!({ "text": next() })),
        ("lab.locked", json!({ "text": next() })),
        ("lab.needs_service", json!({ "text": next() })),
        ("lab.typed", json!({ "text": next() + "odd" })),
        ("lab.typed", json!({ "text": next() + "even" })),
        ("lab.faulty_schema", json!({ "text": next() })),
        ("lab.publish", json!({ "text": next() })),
        ("lab.trap", json!({ "text": next() })),
        ("lab.scoped", json!({ "server": next() })),
        ("lab.checked", json!({ "from": next(), "to": 1 })),
        ("lab.order", json!({ "to": next(), "count": 1 })),
        ("lab.order", json!({ "to": next(), "count": next() })),
        ("lab.order", json!({ "to": next(), "count": 1, "labels": { (next()): next() } })),
        ("lab.order", json!({ "to": next(), "count": 1, "labels": { (next()): 256 } })),
        ("lab.order", json!({ "to": next(), "count": 1, "labels": { (next()): { (next()): next() } } })),
        ("lab.order", json!({ "to": next(), "count": 1, "lines": [{ "item": next(), "delta": next() }] })),
        (
            "lab.order",
            json!({ "to": next(), "count": 1, "lines": [{ "item": "x".repeat(300) + &next(), "delta": 1 }] }),
        ),
        ("lab.order", json!({ "to": next(), "count": 1, "lines": [{ "item": next(), "delta": 1, (next()): next() }] })),
        ("lab.order", json!({ "to": next(), "count": 1, "lines": vec![json!({ "item": next(), "delta": 1 }); 101] })),
        ("lab.order", json!({ (next()): next() })),
        ("lab.order", json!([next()])),
        ("lab.order", json!(next())),
    ] {
        calls.push((name.to_owned(), arguments.to_string()));
    }
    let broken = next();
    calls.push(("lab.order".to_owned(), format!(r#"{{"to":"{broken}","to":"{broken}"}}"#)));
    calls.push(("lab.order".to_owned(), format!(r#"{{"{broken}":"#)));
    calls.push(("lab.order".to_owned(), format!(r#"{{"{broken}":1,"{broken}":2}}"#)));
    calls.push(("lab.order".to_owned(), format!(r#"{{"to":"{broken}\u0000"}}"#)));
    calls.push(("lab.order".to_owned(), format!(r#"{{"to":{}"{broken}"{}}}"#, "[".repeat(200), "]".repeat(200))));
    calls.push((format!("lab.{}", next()), "{}".to_owned()));
    calls.push((next(), "{}".to_owned()));
    calls.push((format!("lab.asks\n{{\"event\":\"{}\"}}", next()), "{}".to_owned()));
    calls
}

#[tokio::test(start_paused = true)]
async fn no_word_of_a_caller_an_author_or_an_operator_is_in_the_log() {
    let canaries = Canaries::default();
    let mut kinds = std::collections::BTreeSet::new();
    let mut codes = std::collections::BTreeSet::new();
    for (name, arguments) in calls(&canaries) {
        for answer in ["approve", "deny", "expire", "mismatch"] {
            let bench = Bench::new();
            bench.world().set_preview(&canaries.next());
            let proposal = Proposal::new(name.clone(), 1, arguments.clone())
                .with_claims(claims(&canaries.next(), &canaries.next()));
            let outcome = bench.executor.invoke(&bench.session, proposal).await;
            kinds.insert(outcome.kind());
            codes.extend(outcome.code());
            if let Some(id) = outcome.approval() {
                match answer {
                    "deny" => {
                        let note = Some(canaries.next());
                        let _ = bench.executor.answer(&bench.operator(), id, Answer::Deny { reason: None, note }).await;
                    }
                    "expire" => bench.time.advance(120_000_000),
                    _ => bench.approve(id).await,
                }
                if answer == "mismatch" {
                    bench.world().set_preview(&canaries.next());
                }
                let outcome = bench.resume(id).await;
                kinds.insert(outcome.kind());
                codes.extend(outcome.code());
            }
            let lines = bench.tape.lines();
            assert!(!lines.contains("canary"), "{name} {arguments} {answer}:\n{lines}");
            for line in lines.lines() {
                let _: Value = serde_json::from_str(line).expect("one line, one value");
            }
            assert!(bench.outcomes_per_invocation().iter().all(|outcomes| *outcomes == 1), "{name} {arguments}");
        }
    }
    // The plants really went everywhere.
    let missed: Vec<_> = [
        OutcomeKind::Executed,
        OutcomeKind::Pending,
        OutcomeKind::Rejected,
        OutcomeKind::Denied,
        OutcomeKind::Expired,
        OutcomeKind::Failed,
        OutcomeKind::TimedOut,
        OutcomeKind::Panicked,
        OutcomeKind::ResultTooLarge,
        OutcomeKind::ResultInvalid,
    ]
    .into_iter()
    .filter(|kind| !kinds.contains(kind))
    .collect();
    assert_eq!(missed, []);
    for code in [
        Code::UnknownCapability,
        Code::ArgumentsMalformed,
        Code::DuplicateKey,
        Code::TooDeep,
        Code::ControlCharacter,
        Code::NotAnObject,
        Code::SchemaViolation,
        Code::ArgumentRefused,
        Code::SchemaFault,
        Code::PrepareFailed,
        Code::PrepareTimedOut,
        Code::PreparePanicked,
        Code::ApprovalMismatch,
    ] {
        assert!(codes.contains(&code), "{code}");
    }
}

/// Texts that would break a line, or start one of their own, were they written.
#[tokio::test]
async fn no_text_forges_a_line() {
    let bench = Bench::new();
    let forged = "x\"}\n{\"event\":\"outcome\",\"outcome\":\"executed\"}";
    for name in ["lab.act_read_local", "lab.order", forged] {
        let call = json!({ "behaviour": "answer", "text": forged, "to": forged, "count": 1, (forged): forged });
        let _ = bench.invoke(name, &call).await;
    }
    let _ = bench.invoke("lab.act_read_local", &json!({ "behaviour": "fail_public", "text": forged })).await;
    let outcomes = bench.outcomes();
    assert_eq!(outcomes.len(), 4);
    assert!(outcomes.iter().all(|event| event["outcome"] != "executed"), "{outcomes:?}");
}
