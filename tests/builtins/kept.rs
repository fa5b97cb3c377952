//! `state.get` and `state.put`, `package.trust` and `dependency.request`: what subjects keep, and what they leave for people.

use capability_core::audit::OutcomeKind;
use capability_core::executor::Effect;
use capability_core::handle::{ReviewKind, StateScope};
use capability_core::session::Subject;
use capability_core::{Code, Stage};
use capability_host::SettingError;
use serde_json::{Value, json};

use crate::household::{Household, folder};

fn at(scope: &str, key: &str) -> Value {
    json!({ "scope": scope, "key": key })
}

fn put(scope: &str, key: &str, value: &str) -> Value {
    json!({ "scope": scope, "key": key, "value": value })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_text_is_its_subjects_alone_until_it_is_erased() {
    let household = Household::open(folder(), "").await;
    let turn = household.turn();
    let nothing = json!({ "value": null, "at": null });
    assert_eq!(household.called("state.get", &at("core", "canary.key")).await, nothing);
    let asked = household.ask_in(&turn, "state.put", &put("core", "canary.key", "the canary's words")).await;
    assert_eq!((asked.kind(), asked.stage()), (OutcomeKind::Pending, Stage::Confirm), "{asked:?}");
    assert_eq!(household.called("state.get", &at("core", "canary.key")).await, nothing, "nobody has said yes");
    let done = household.approved(&turn, &asked).await;
    assert_eq!((done.kind(), done.effect()), (OutcomeKind::Executed, Effect::Completed), "{done:?}");

    // In every session of the subject, and not in its other scope.
    let told = household.called("state.get", &at("core", "canary.key")).await;
    assert_eq!(told["value"], "the canary's words");
    assert!(told["at"].as_str().unwrap().starts_with("20"), "{told}");
    assert_eq!(household.called("state.get", &at("session", "canary.key")).await, nothing);

    // In that session and in no other.
    let asked = household.ask_in(&turn, "state.put", &put("session", "canary.key", "of this session")).await;
    // One call of a kind and turn is what its class has; the next turn is another session here.
    let other = household.turn();
    let done = household.approved(&turn, &asked).await;
    assert_eq!(done.kind(), OutcomeKind::Executed, "{done:?}");
    let value = |outcome: capability_core::executor::Outcome| -> Value {
        serde_json::from_str(outcome.result().unwrap_or_else(|| panic!("{outcome:?}"))).unwrap()
    };
    assert_eq!(
        value(household.ask_in(&turn, "state.get", &at("session", "canary.key")).await)["value"],
        "of this session"
    );
    assert_eq!(value(household.ask_in(&other, "state.get", &at("session", "canary.key")).await), nothing);

    // Another subject's is another's.
    let kitchen = household.turn_of("agent:kitchen", &["state.get"]);
    assert_eq!(value(household.ask_in(&kitchen, "state.get", &at("core", "canary.key")).await), nothing);

    let entries = household.host.state().entries(&Subject::local()).await.unwrap();
    let scopes: Vec<_> = entries.iter().map(|entry| (entry.scope, entry.key.as_str())).collect();
    assert_eq!(scopes, [(StateScope::Core, "canary.key"), (StateScope::Session, "canary.key")]);
    assert_eq!(household.erase_state(&Subject::local()).await.unwrap(), 2);
    assert_eq!(household.erase_state(&Subject::local()).await.unwrap(), 0);
    assert_eq!(household.called("state.get", &at("core", "canary.key")).await, nothing);
    assert_eq!(household.log().matches("\"setting\":\"state_erased\"").count(), 1, "{}", household.log());
    household.remembers_nothing_of(&["the canary's words", "canary.key", "of this session"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_is_put_in_place_or_taken_away_within_bounds() {
    let household = Household::open(folder(), "").await;
    household.called("state.put", &put("core", "a", "one")).await;
    household.called("state.put", &put("core", "a", "two")).await;
    assert_eq!(household.called("state.get", &at("core", "a")).await["value"], "two");
    household.called("state.put", &at("core", "a")).await;
    assert_eq!(household.called("state.get", &at("core", "a")).await["value"], Value::Null);
    for (bad, code) in [
        (put("core", "A", "x"), Code::CheckRefused),
        (put("core", "a b", "x"), Code::CheckRefused),
        (put("core", "../a", "x"), Code::CheckRefused),
        (put("core", "a", &"é".repeat(8193)), Code::CheckRefused),
        (put("core", "a", &"x".repeat(16_385)), Code::SchemaViolation),
        (put("other", "a", "x"), Code::SchemaViolation),
        (put("core", "", "x"), Code::SchemaViolation),
        (json!({ "scope": "core", "key": "a", "value": { "open": true } }), Code::SchemaViolation),
        (json!({ "scope": "core", "key": "a", "subject": "agent:kitchen" }), Code::SchemaViolation),
    ] {
        let outcome = household.ask("state.put", &bad).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(code)), "{outcome:?}");
    }
    for at in 0..63 {
        household.put(&format!("filler{at}"), &"x".repeat(16_384)).await.unwrap();
    }
    household.called("state.put", &put("core", "last", &"x".repeat(16_384))).await;
    let outcome = household.call("state.put", &put("core", "over", "x")).await;
    assert_eq!((outcome.kind(), outcome.effect()), (OutcomeKind::Failed, Effect::NotStarted), "{outcome:?}");
    assert!(outcome.message().unwrap().contains("above the handle's cap"), "{:?}", outcome.message());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_people_do_is_filed_for_them_and_nothing_else_happens() {
    let household = Household::open(folder(), "").await;
    let trust = json!({ "source": "https://packages.canary.example/simple", "reason": "it has the canary" });
    let wanted = json!({ "ecosystem": "pypi", "package": "canary==1.0", "reason": "to count canaries" });
    let turn = household.turn();
    let asked = household.ask_in(&turn, "package.trust", &trust).await;
    assert_eq!((asked.kind(), asked.stage()), (OutcomeKind::Pending, Stage::Confirm), "{asked:?}");
    assert!(household.host.reviews().open().await.unwrap().is_empty(), "nobody has said yes");
    let done = household.approved(&turn, &asked).await;
    let first: Value = serde_json::from_str(done.result().unwrap_or_else(|| panic!("{done:?}"))).unwrap();
    let first = first["review"].as_u64().unwrap();
    let second = household.called("dependency.request", &wanted).await["review"].as_u64().unwrap();
    let open = household.host.reviews().open().await.unwrap();
    let shown: Vec<_> =
        open.iter().map(|found| (found.number, found.review.kind, found.review.about.as_str())).collect();
    assert_eq!(
        shown,
        [
            (first, ReviewKind::PackageTrust, "https://packages.canary.example/simple"),
            (second, ReviewKind::Dependency, "pypi: canary==1.0"),
        ]
    );
    assert!(open.iter().all(|found| found.subject == Subject::local()));
    household.close_review(first).await.unwrap();
    household.close_review(second).await.unwrap();
    assert!(matches!(household.close_review(first).await, Err(SettingError::NoSuchReview)));
    assert!(household.host.reviews().open().await.unwrap().is_empty());
    assert_eq!(household.log().matches("\"setting\":\"review_closed\"").count(), 2, "{}", household.log());
    household.remembers_nothing_of(&["canary"]);
}

/// There is no argument in which an order to install could stand, and what is asked for is one line.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_would_do_more_than_ask_is_refused() {
    let household = Household::open(folder(), "").await;
    for (name, bad, code) in [
        (
            "dependency.request",
            json!({ "ecosystem": "pypi", "package": "a", "reason": "b", "install": true }),
            Code::SchemaViolation,
        ),
        ("dependency.request", json!({ "ecosystem": "curl", "package": "a", "reason": "b" }), Code::SchemaViolation),
        ("dependency.request", json!({ "ecosystem": "npm", "package": "a\nb", "reason": "b" }), Code::CheckRefused),
        ("dependency.request", json!({ "ecosystem": "npm", "package": "a" }), Code::SchemaViolation),
        ("package.trust", json!({ "source": "a\u{1b}[2J", "reason": "b" }), Code::CheckRefused),
        ("package.trust", json!({ "source": " ", "reason": "b" }), Code::CheckRefused),
        ("package.trust", json!({ "source": "a", "reason": "b", "trusted": true }), Code::SchemaViolation),
    ] {
        let outcome = household.ask(name, &bad).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(code)), "{bad} {outcome:?}");
    }
    for name in ["package.install", "dependency.install", "package.trusted"] {
        assert_eq!(household.ask(name, &json!({})).await.code(), Some(Code::UnknownCapability), "{name}");
    }
}
