//! A body in a worker is a body: same handles, same ends, same records.

use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::{Effect, Ended};
use capability_core::{Code, Concern, Raise};
use serde_json::{Value, json};

use crate::bodies::Sight;
use crate::lab::{Lab, code};

#[tokio::test(flavor = "multi_thread")]
async fn a_body_sees_its_handles_and_nothing_else() {
    let lab = Lab::open();
    let outcome = lab.invoke("cell.look", &json!({})).await;
    let sight: Sight = serde_json::from_str(outcome.result().unwrap_or_else(|| panic!("{outcome:?}"))).unwrap();
    assert_eq!((sight.environment, sight.subject.as_str(), sight.uptime), (0, "local", true));
    assert!((1..=5000).contains(&sight.remaining_ms), "{sight:?}");
    assert!(!sight.file, "no file is open to a worker");
    let record = lab.last_outcome();
    assert_eq!(
        (&record["isolation"], &record["deadline"], &record["degraded"]),
        (&json!("process"), &json!("enforced"), &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_to_end_arrives() {
    let lab = Lab::open();
    for (deed, kind, effect) in [
        ("answer", Kind::Executed, Effect::Completed),
        ("large", Kind::ResultTooLarge, Effect::Completed),
        ("panic", Kind::Panicked, Effect::Unknown),
        ("fail_public", Kind::Failed, Effect::Unknown),
        ("fail_private", Kind::Failed, Effect::Unknown),
        ("abort", Kind::Panicked, Effect::Unknown),
    ] {
        let outcome = lab.invoke("cell.read", &json!({ "deed": deed })).await;
        assert_eq!((outcome.kind(), outcome.effect()), (kind, effect), "{deed}: {outcome:?}");
    }
    let said = lab.invoke("cell.read", &json!({ "deed": "fail_public" })).await;
    assert_eq!(said.message().as_deref(), Some("the lamp is broken"));
    for (deed, kind, effect) in [
        ("answer", Kind::Executed, Effect::Completed),
        ("large", Kind::ResultTooLarge, Effect::Completed),
        ("panic", Kind::Panicked, Effect::Unknown),
        ("fail_private", Kind::Failed, Effect::Unknown),
        ("fail_before", Kind::Failed, Effect::NotStarted),
        ("abort", Kind::Panicked, Effect::Unknown),
    ] {
        let outcome = lab.approved("cell.change", &json!({ "deed": deed })).await;
        assert_eq!((outcome.kind(), outcome.effect()), (kind, effect), "{deed}: {outcome:?}");
    }
    let outcome = lab.approved("cell.brief_change", &json!({ "deed": "sleep" })).await;
    assert_eq!((outcome.kind(), outcome.effect()), (Kind::TimedOut, Effect::Unknown), "{outcome:?}");
    let log: String = lab.events().iter().map(Value::to_string).collect();
    assert!(!log.contains("tangerine") && !log.contains("lamp"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_authors_part_of_validate_runs_there_too() {
    let lab = Lab::open();
    let outcome = lab.invoke("cell.checked", &json!({ "deed": "answer" })).await;
    assert_eq!(outcome.result(), Some("\"Answer\""), "{outcome:?}");
    for (deed, expected) in [
        ("large", Code::CheckRefused),
        ("panic", Code::PreparePanicked),
        ("abort", Code::PreparePanicked),
        ("busy", Code::PrepareTimedOut),
    ] {
        let outcome = lab.invoke("cell.checked", &json!({ "deed": deed })).await;
        assert_eq!(code(&outcome), Some(expected), "{deed}: {outcome:?}");
        assert_eq!(outcome.effect(), Effect::NotStarted);
    }
}

/// The preview is made in a worker that is thrown away when nobody has answered yet, and made again when somebody has.
#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_shown_and_nothing_is_written_before_the_answer() {
    let lab = Lab::open();
    let pending = lab.invoke("cell.write", &json!({ "text": "a line" })).await;
    let Ended::Pending { approval, .. } = pending.ended() else { panic!("{pending:?}") };
    let operator = lab.operator().await;
    let found = lab.host.executor().approval(&operator, *approval).await.unwrap().expect("it waits");
    let preview = found.filed.and_then(|filed| filed.approval.preview).expect("a preview");
    assert_eq!((preview.text.as_str(), preview.rests_on), ("would write a line", vec![[7; 32]]));
    assert_eq!(preview.raise, Some(Raise::ask(Concern::SensitivePath)), "what the worker's look raised came along");
    assert!(lab.journal().await.is_empty());
    lab.host.executor().answer(&operator, *approval, capability_core::store::Answer::Approve).await.unwrap();
    let outcome = lab.host.executor().resume(&lab.session(), *approval).await;
    assert_eq!(outcome.result(), Some("\"a line\""), "{outcome:?}");
    assert_eq!(lab.journal().await.len(), 1);
}

/// What a host serves at a time is bounded, and a body that asks for more waits for its turn.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_may_ask_many_things_at_once() {
    let lab = Lab::open();
    let outcome = lab.invoke("cell.many", &json!({})).await;
    assert_eq!(outcome.result(), Some("100"), "{outcome:?}");
}

/// A question that nobody waits for any more is still sent whole: half of one would be the beginning of the next.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_given_up_spoils_no_other() {
    let root = tempfile::tempdir().expect("a directory");
    let lab = Lab::with(&format!("[workspace]\nroot = \"{}\"\n", root.path().display()));
    // Whether the answer to it meets a worker that is still there or one that has just ended.
    for _ in 0..12 {
        let outcome = lab.approved("cell.impatient", &json!({})).await;
        assert_eq!(outcome.result(), Some("false"), "{outcome:?}");
    }
}

/// A worker can say what no preview function could: it is held to the same bounds, and nobody is asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_within_its_bounds_whatever_the_worker_says() {
    let lab = Lab::open();
    for hashes in [false, true] {
        let outcome = lab.invoke("cell.loud", &json!({ "hashes": hashes })).await;
        assert_eq!(code(&outcome), Some(Code::PreparePanicked), "{outcome:?}");
    }
}

/// A name that no capability has would silently leave in a sandbox what the operator took out of it, or the other way round
/// when it is spelled right one day.
#[test]
fn what_runs_in_the_hosts_process_is_named_as_it_is_registered() {
    for (written, help) in [("cell.lok", "`cell.look`"), ("zebra.stripe", "`capability list`")] {
        let fault = Lab::try_with(&format!("[isolation]\nin_process = [\"{written}\"]\n")).err().expect("a refusal");
        let said = fault.to_string();
        assert!(said.contains(&format!("`{written}`")) && said.contains(help), "{said}");
        assert!(said.contains("config.toml` line 2: "), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_can_run_one_capability_in_the_hosts_process_and_it_shows() {
    let lab = Lab::with("[isolation]\nin_process = [\"cell.look\"]\n");
    let outcome = lab.invoke("cell.look", &json!({})).await;
    let sight: Sight = serde_json::from_str(outcome.result().unwrap_or_else(|| panic!("{outcome:?}"))).unwrap();
    assert!(sight.file && sight.environment > 0, "{sight:?}");
    assert_eq!(lab.last_outcome()["isolation"], json!("none"));
    let _ = lab.invoke("cell.add", &json!({ "a": 1, "b": 2 })).await;
    assert_eq!(lab.last_outcome()["isolation"], json!("process"));
}

/// The host has tried every way out before it trusts its sandbox, and shows each with its answer.
#[tokio::test(flavor = "multi_thread")]
async fn every_way_out_is_tried_and_shown() {
    let lab = Lab::open();
    let findings = lab.host.runner().attest().await.expect("the sandbox holds");
    let ways = findings.iter().find(|finding| finding.name == "sandbox: ways out").expect("ways out");
    assert!(ways.answers.len() > 100 && !ways.answers.iter().any(|answer| answer.led_out), "{:?}", ways.found);
    for profile in ["sealed", "connected"] {
        let of_profile = ways.answers.iter().filter(|answer| answer.profile == profile);
        assert!(of_profile.count() > 50, "{profile}");
    }
}

/// An author who forgets is told which handle to take.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_connects_by_itself_is_told_what_to_take() {
    let lab = Lab::open();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let outcome = lab.invoke("cell.connect", &json!({ "port": listener.local_addr().unwrap().port() })).await;
    let said = outcome.message().unwrap_or_default().into_owned();
    for word in ["`cell.connect`", "`socket`", "read_only", "local", "`&Endpoint<..>`"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(outcome.kind(), Kind::Failed);
    assert!(!lab.events().iter().any(|event| event.to_string().contains("socket")));
}
