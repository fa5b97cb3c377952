//! Every way in which an invocation ends, in every class.

use std::sync::Arc;

use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::Class;
use capability_core::executor::{Effect, Ended, MAX_MESSAGE_BYTES};
use capability_core::redact::{Redaction, Redactor};
use capability_core::{Code, Outcome};
use serde_json::json;

use crate::fixtures::bench::only;
use crate::fixtures::capabilities::{ACTING, Behaviour, MAX_RESULT};
use crate::fixtures::parts::Taking;
use crate::fixtures::{Bench, bench};

/// What a body that did this ends as, and what is then known of the world.
fn expected(behaviour: Behaviour, class: Class) -> (Kind, Effect) {
    let traceless = class == Class::ALL[0];
    let unfinished = if traceless { Effect::NotStarted } else { Effect::Unknown };
    let completed = if traceless { Effect::NotStarted } else { Effect::Completed };
    match behaviour {
        Behaviour::Answer | Behaviour::Wait | Behaviour::Busy | Behaviour::Full => (Kind::Executed, Effect::Completed),
        Behaviour::PanicBefore
        | Behaviour::PanicAfter
        | Behaviour::PanicInDrop
        | Behaviour::PanicWithBomb
        | Behaviour::PanicInSerialize => (Kind::Panicked, unfinished),
        Behaviour::Hang | Behaviour::HangAndPanicInDrop => (Kind::TimedOut, unfinished),
        Behaviour::FailPrivate | Behaviour::FailPublic => (Kind::Failed, unfinished),
        Behaviour::FailBefore | Behaviour::FailPublicBefore => (Kind::Failed, Effect::NotStarted),
        Behaviour::Invalid | Behaviour::Unserialisable => (Kind::ResultInvalid, completed),
        Behaviour::TooLarge | Behaviour::Inflated => (Kind::ResultTooLarge, completed),
    }
}

#[tokio::test(start_paused = true)]
async fn every_behaviour_in_every_class_ends_as_one_kind_with_its_effect_and_one_record() {
    for (name, class) in ACTING.into_iter().zip(Class::ALL) {
        for behaviour in Behaviour::ALL {
            let bench = Bench::new();
            let outcome = bench.run(name, &json!({ "behaviour": behaviour, "text": "t" })).await;
            let (kind, effect) = expected(behaviour, class);
            assert_eq!((outcome.kind(), outcome.effect()), (kind, effect), "{name} {behaviour:?}: {outcome:?}");
            assert_eq!(bench.world().ran(), 1, "{name} {behaviour:?}");
            let mut record = json!({
                "outcome": kind, "stage": "execute", "effect": effect, "isolation": "none", "deadline": "cooperative",
            });
            if let Some(result) = outcome.result() {
                record["result_bytes"] = json!(result.len());
            }
            let fields = ["outcome", "stage", "effect", "isolation", "deadline", "result_bytes", "code"];
            assert_eq!(only(&bench.last_outcome(), &fields), record, "{name} {behaviour:?}");
            assert!(bench.outcomes_per_invocation().iter().all(|outcomes| *outcomes == 1), "{name} {behaviour:?}");
        }
    }
}

#[tokio::test]
async fn a_result_of_exactly_the_cap_is_given_and_one_byte_more_is_not() {
    let bench = Bench::new();
    let full = bench.invoke("lab.act_read_local", &json!({ "behaviour": "full" })).await;
    assert_eq!(full.result().map(str::len), Some(MAX_RESULT));
    for behaviour in ["too_large", "inflated"] {
        let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": behaviour })).await;
        assert!(matches!(outcome.ended(), Ended::ResultTooLarge { max: 1024 }), "{outcome:?}");
        assert_eq!(outcome.message().as_deref(), Some("the result is larger than 1024 bytes"));
    }
}

/// A failure is no way around the cap on results: what its author says in public is a sentence, and so is what a
/// preview says.
#[tokio::test]
async fn what_an_author_says_in_public_is_bounded() {
    let bench = Bench::new();
    let long = "é".repeat(100_000);
    let fails = json!({ "behaviour": "fail_public", "text": long });
    let shows = json!({ "preview": "fail_public", "text": long });
    for (name, arguments) in [("lab.act_read_local", fails), ("lab.edit", shows)] {
        let outcome = bench.invoke(name, &arguments).await;
        let message = outcome.message().expect("a sentence").into_owned();
        assert!(message.len() <= MAX_MESSAGE_BYTES && message.ends_with('…'), "{name}: {} bytes", message.len());
    }
    let short = bench.invoke("lab.act_read_local", &json!({ "behaviour": "fail_public", "text": "é" })).await;
    assert_eq!(short.message().as_deref(), Some("é"));
}

/// An entry in a journal is stored, whatever becomes of the call around it: nobody is told that it may be tried again.
#[tokio::test]
async fn a_call_that_may_have_written_into_a_journal_is_not_said_to_have_done_nothing() {
    let bench = Bench::new();
    let outcome = bench.invoke("lab.notes", &json!({})).await;
    assert_eq!(bench.bindings.journal_of(&bench.subject), ["noted"]);
    assert_eq!((outcome.kind(), outcome.effect()), (Kind::Failed, Effect::Unknown));
    assert_eq!(only(&bench.last_outcome(), &["effect"]), json!({ "effect": "unknown" }));
    assert!(outcome.help().is_some_and(|help| help.contains("it may have happened")), "{outcome:?}");
}

/// Nothing but what its author marked public is told of a failure.
#[tokio::test]
async fn only_a_public_failure_says_why() {
    let bench = Bench::new();
    let fail = async |behaviour: &str| {
        bench.invoke("lab.act_read_local", &json!({ "behaviour": behaviour, "text": "sesame" })).await
    };
    assert_eq!(fail("fail_public").await.message().as_deref(), Some("sesame"));
    let mut masked = vec![bench.invoke("lab.says_why", &json!({ "text": "sesame" })).await];
    for behaviour in ["fail_private", "fail_before", "panic_before", "panic_after", "invalid", "unserialisable"] {
        masked.push(fail(behaviour).await);
    }
    for outcome in masked {
        let told = serde_json::to_string(&outcome).expect("an outcome is JSON");
        assert!(!told.contains("sesame") && !format!("{outcome:?}").contains("sesame"), "{told}");
    }
    let records = bench.tape.lines();
    assert!(!records.contains("sesame"), "{records}");
}

#[tokio::test]
async fn a_result_that_breaks_its_schema_is_recorded_by_place_and_never_by_content() {
    let bench = Bench::new();
    let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": "invalid", "text": "sesame" })).await;
    assert_eq!(outcome.kind(), Kind::ResultInvalid);
    let place = only(&bench.last_outcome(), &["outcome", "keyword", "schema_path"]);
    let keyword = place["keyword"].as_str().expect("a keyword");
    assert!(["additionalProperties", "unevaluatedProperties"].contains(&keyword), "{place}");
    assert!(!bench.tape.lines().contains("sesame"));
}

/// The kinds that no body can cause.
#[tokio::test]
async fn pending_denied_expired_cancelled_and_withheld_are_ended_and_recorded() {
    let bench = Bench::new();
    let write = json!({ "behaviour": "answer" });
    let fields = ["outcome", "stage", "effect", "code"];
    let recorded = |outcome: &Outcome| {
        let record = only(&bench.last_outcome(), &fields);
        assert_eq!(record["outcome"], json!(outcome.kind()));
        record
    };

    let outcome = bench.invoke("lab.act_write_local", &write).await;
    let denied = outcome.approval().expect("pending");
    assert_eq!(recorded(&outcome), json!({ "outcome": "pending", "stage": "confirm", "effect": "not_started" }));

    bench.deny(denied, Some("not today")).await;
    let outcome = bench.resume(denied).await;
    assert!(matches!(outcome.ended(), Ended::Denied { note: Some(note), .. } if note == "not today"), "{outcome:?}");
    assert_eq!(recorded(&outcome), json!({ "outcome": "denied", "stage": "confirm", "effect": "not_started" }));

    let late = bench.pending("lab.act_write_local", &write).await;
    bench.time.advance(120_000_000);
    let outcome = bench.resume(late).await;
    assert_eq!(outcome.kind(), Kind::Expired);
    assert_eq!(recorded(&outcome), json!({ "outcome": "expired", "stage": "confirm", "effect": "not_started" }));

    assert_eq!(bench.world().ran(), 0);
    bench.tape.take(Taking::FailsFrom(1));
    let outcome = bench.invoke("lab.act_read_local", &write).await;
    assert!(matches!(outcome.ended(), Ended::Withheld { code: Code::Unrecorded }), "{outcome:?}");
    assert_eq!((outcome.effect(), outcome.receipt(), outcome.result()), (Effect::Completed, None, None));
    assert_eq!(bench.world().ran(), 1);
}

/// Knows these.
struct Knows(Arc<Redactor>);

impl Redaction for Knows {
    fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.0)
    }
}

fn knowing(redactor: Redactor) -> Bench {
    let bench = Bench::new();
    bench.executor.redact_with(Arc::new(Knows(Arc::new(redactor))));
    bench
}

/// A result goes by its schema and cap after the secrets were taken out of it, or it does not go.
#[tokio::test]
async fn a_result_that_no_longer_keeps_its_promise_without_its_secrets_is_withheld() {
    let fields = ["outcome", "stage", "effect", "code", "result_bytes"];
    let bench = knowing(Redactor::new(["canary-1"]));
    let said =
        async |text: String| bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer", "text": text })).await;
    let outcome = said("a canary-1".to_owned()).await;
    assert_eq!(outcome.result(), Some(r#"{"text":"a [redacted]"}"#));
    // Within the cap as it was, and above it with the marks.
    let outcome = said(format!("{}{}", ".".repeat(MAX_RESULT / 2), "canary-1 ".repeat(MAX_RESULT / 2 / 9 - 2))).await;
    assert!(matches!(outcome.ended(), Ended::Withheld { code: Code::ResultRedacted }), "{outcome:?}");
    assert_eq!((outcome.result(), outcome.code()), (None, Some(Code::ResultRedacted)));
    let told = serde_json::to_value(&outcome).expect("an outcome is JSON");
    assert_eq!((&told["outcome"], &told["code"]), (&json!("withheld"), &json!("result_redacted")));
    assert!(told["message"].is_string() && told["help"].is_string() && !told.to_string().contains("canary"), "{told}");
    let record = only(&bench.last_outcome(), &fields);
    let expected = json!({ "outcome": "withheld", "stage": "audit", "effect": "completed", "code": "result_redacted" });
    assert_eq!(record, expected);
    // A redactor that cannot look lets nothing through, and says so in the same way.
    let bench = knowing(Redactor::broken());
    let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer", "text": "a" })).await;
    assert!(matches!(outcome.ended(), Ended::Withheld { code: Code::RedactorFailed }), "{outcome:?}");
    assert_eq!(only(&bench.last_outcome(), &fields)["code"], "redactor_failed");
}

/// An author's words are cut before anybody looks through them.
#[tokio::test]
async fn words_that_were_cut_end_with_no_part_of_a_secret() {
    let secret = "canary-of-some-length";
    for kept in [1, 3, 4, 10, secret.len() - 1, secret.len()] {
        let bench = knowing(Redactor::new([secret]));
        let before = MAX_MESSAGE_BYTES - "…".len() - kept;
        let text = format!("{}{secret}{}", ".".repeat(before), ".".repeat(100));
        let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": "fail_public", "text": text })).await;
        let message = outcome.message().expect("it failed").into_owned();
        assert!(message.ends_with('…') && !message.contains("cana"), "{kept}: {}", &message[before..]);
    }
}

#[tokio::test(start_paused = true)]
async fn ending_a_session_cancels_what_runs_in_every_class() {
    for (name, class) in ACTING.into_iter().zip(Class::ALL) {
        let bench = Bench::new();
        let hang = json!({ "behaviour": "hang" });
        let outcome = if class.confirmation().is_required() {
            let id = bench.pending(name, &hang).await;
            bench.approve(id).await;
            let (outcome, ()) = tokio::join!(bench.resume(id), end_when_it_runs(&bench));
            outcome
        } else {
            let (outcome, ()) = tokio::join!(bench.invoke(name, &hang), end_when_it_runs(&bench));
            outcome
        };
        let effect = if class == Class::ALL[0] { Effect::NotStarted } else { Effect::Unknown };
        assert_eq!((outcome.kind(), outcome.effect()), (Kind::Cancelled, effect), "{name}");
        let record = only(&bench.last_outcome(), &["outcome", "stage", "effect"]);
        assert_eq!(record, json!({ "outcome": "cancelled", "stage": "execute", "effect": effect }), "{name}");
        // What comes later does not even reach the first stage, whichever door it takes.
        for outcome in [bench.invoke(name, &hang).await, bench.resume(bench::any_id()).await] {
            assert_eq!(outcome.code(), Some(Code::SessionEnded), "{outcome:?}");
        }
        assert_eq!(bench.world().ran(), 1);
    }
}

async fn end_when_it_runs(bench: &Bench) {
    while bench.world().ran() == 0 {
        tokio::task::yield_now().await;
    }
    bench.session.end();
}

/// A session that ends while an intent is on its way to the disk: the body, which would not even have to await, never begins.
#[tokio::test]
async fn a_session_that_ends_before_the_body_begins_begins_none() {
    for name in &ACTING[1..] {
        let bench = Bench::new();
        let id = bench.pending(name, &json!({ "behaviour": "answer" })).await;
        bench.approve(id).await;
        bench.tape.be_late();
        let end = async {
            while bench.last_event() != "intent" {
                tokio::task::yield_now().await;
            }
            bench.session.end();
            bench.tape.settle();
            while bench.last_event() != "outcome" {
                tokio::task::yield_now().await;
            }
            bench.tape.settle();
        };
        let (outcome, ()) = tokio::join!(bench.resume(id), end);
        assert_eq!((outcome.kind(), outcome.effect()), (Kind::Cancelled, Effect::NotStarted), "{name}: {outcome:?}");
        assert_eq!(bench.world().ran(), 0, "{name}");
        let record = only(&bench.last_outcome(), &["outcome", "stage", "effect", "isolation"]);
        assert_eq!(record, json!({ "outcome": "cancelled", "stage": "execute", "effect": "not_started" }), "{name}");
    }
}

/// A session that ends while its call is being prepared gets no further.
#[tokio::test(start_paused = true)]
async fn ending_a_session_cancels_what_is_being_prepared() {
    let bench = Bench::new();
    let hang = json!({ "preview": "hang" });
    let end = async {
        while bench.world().previewed() == 0 {
            tokio::task::yield_now().await;
        }
        bench.session.end();
    };
    let (outcome, ()) = tokio::join!(bench.invoke("lab.edit", &hang), end);
    assert_eq!((outcome.kind(), outcome.effect()), (Kind::Cancelled, Effect::NotStarted), "{outcome:?}");
    let record = only(&bench.last_outcome(), &["outcome", "stage", "effect"]);
    assert_eq!(record, json!({ "outcome": "cancelled", "stage": "validate", "effect": "not_started" }));
}

/// One misbehaving call does not spoil the next.
#[tokio::test(start_paused = true)]
async fn the_executor_goes_on_after_every_misbehaviour() {
    let bench = Bench::new();
    for behaviour in Behaviour::ALL {
        let _ = bench.run("lab.act_write_local", &json!({ "behaviour": behaviour, "text": "t" })).await;
        let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer", "text": "fine" })).await;
        assert_eq!(outcome.result(), Some(r#"{"text":"fine"}"#), "after {behaviour:?}");
    }
}

/// The author's argument type goes off when a call that waits lets go of it; the question stands all the same.
#[tokio::test]
async fn arguments_that_panic_when_dropped_do_not_take_the_executor_along() {
    let bench = Bench::new();
    let outcome = bench.invoke("lab.trap", &json!({ "text": "click" })).await;
    let id = outcome.approval().expect("pending");
    assert_eq!(bench.outcomes().len(), 1);
    assert_eq!(bench.last_outcome()["outcome"], "pending");
    bench.approve(id).await;
    assert_eq!(bench.resume(id).await.result(), Some(r#"{"text":"click"}"#));
}
