//! A person's no: its reason, its note, and what becomes of whoever keeps asking.

use capability_core::approval::{DenialReason, HistoryEntry, OperatorDeed};
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::Ended;
use capability_core::session::{Mode, Subject};
use capability_core::store::Answer;
use capability_core::{Code, Stage};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::{only, proposal};

fn write(text: &str) -> Value {
    json!({ "behaviour": "answer", "text": text })
}

async fn deny_for(bench: &Bench, text: &str, reason: Option<DenialReason>, note: Option<&str>) {
    let id = bench.pending("lab.act_write_local", &write(text)).await;
    let answer = Answer::Deny { reason, note: note.map(str::to_owned) };
    bench.executor.answer(&bench.operator(), id, answer).await.expect("it waits");
}

#[tokio::test]
async fn a_reason_is_told_and_recorded_and_a_note_is_only_told() {
    for reason in DenialReason::ALL {
        let bench = Bench::new();
        let id = bench.pending("lab.act_write_local", &write("t")).await;
        let answer = Answer::Deny { reason: Some(reason), note: Some("ask sesame first".to_owned()) };
        bench.executor.answer(&bench.operator(), id, answer).await.expect("it waits");
        let outcome = bench.resume(id).await;
        assert!(matches!(outcome.ended(), Ended::Denied { reason: Some(told), .. } if *told == reason));
        let told = serde_json::to_value(&outcome).expect("JSON");
        assert_eq!((&told["outcome"], &told["reason"]), (&json!("denied"), &json!(reason)));
        let words = told["message"].as_str().expect("a sentence");
        assert!(words.contains(reason.sentence()) && words.contains("ask sesame first"), "{words}");
        let recorded = bench.events().into_iter().find(|event| event["event"] == "approval").expect("recorded");
        assert_eq!(only(&recorded, &["step", "reason"]), json!({ "step": "denied", "reason": reason }));
        assert!(!bench.tape.lines().contains("sesame"));
    }
}

/// The same thing a fourth time makes no card: in any turn, in any session, however it is spelt.
#[tokio::test]
async fn what_people_keep_denying_is_not_asked_about_again() {
    let bench = Bench::new();
    for turn in 0..3_u8 {
        let session = bench.session(turn, Mode::Live, turn.into());
        let asked = bench.executor.invoke(&session, proposal("lab.act_write_local", &write("x"))).await;
        bench.deny(asked.approval().expect("a card"), None).await;
    }
    let before = bench.events().len();
    for (spelling, session) in [
        (r#"{"behaviour":"answer","text":"x"}"#, bench.session(9, Mode::Live, 9)),
        (r#" { "text" : "\u0078", "behaviour":"answer" } "#, bench.session(1, Mode::Live, 1)),
    ] {
        let outcome =
            bench.executor.invoke(&session, capability_core::Proposal::new("lab.act_write_local", 1, spelling)).await;
        assert_eq!((outcome.kind(), outcome.stage()), (Kind::Rejected, Stage::Confirm));
        assert_eq!((outcome.code(), outcome.approval()), (Some(Code::DenialLoop), None));
        assert_eq!(bench.last_outcome()["code"], "denial_loop");
    }
    assert!(bench.executor.waiting(&bench.operator()).await.expect("memory answers").is_empty());
    // Each refusal leaves a decision and an outcome, and nothing else: no rule is made of it.
    assert_eq!(bench.events().len(), before + 4);
    // Another call, another capability and another subject are asked about as ever.
    bench.pending("lab.act_write_local", &write("y")).await;
    bench.pending("lab.act_write_external", &write("x")).await;
    let stranger = bench.executor.invoke(&bench.stranger(), proposal("lab.act_write_local", &write("x"))).await;
    assert_eq!(stranger.kind(), Kind::Pending);
    assert_eq!(bench.world().ran(), 0);

    let loops = bench.executor.denial_loops(&bench.operator()).await.expect("memory answers");
    assert_eq!(loops.len(), 1);
    assert_eq!(
        (&loops[0].subject, loops[0].capability.as_str(), loops[0].denials),
        (&bench.subject, "lab.act_write_local", 3)
    );
    // An operator lifts it, on record, for that subject alone.
    let other: Subject = "somebody".parse().expect("plain");
    assert_eq!(bench.executor.clear_denials(&bench.operator(), &other).await, Ok(0));
    assert_eq!(bench.invoke("lab.act_write_local", &write("x")).await.code(), Some(Code::DenialLoop));
    assert_eq!(bench.executor.clear_denials(&bench.operator(), &bench.subject).await, Ok(1));
    let last = bench.events().pop().expect("recorded");
    assert_eq!(only(&last, &["event", "setting"]), json!({ "event": "configuration", "setting": "denials_cleared" }));
    bench.pending("lab.act_write_local", &write("x")).await;
}

#[tokio::test]
async fn the_count_lapses_after_an_hour_and_a_yes_begins_it_anew() {
    let bench = Bench::new();
    for _ in 0..2 {
        deny_for(&bench, "x", None, None).await;
    }
    assert_eq!(bench.run("lab.act_write_local", &write("x")).await.kind(), Kind::Executed);
    for _ in 0..3 {
        deny_for(&bench, "x", Some(DenialReason::NotNow), None).await;
    }
    let hour = 3_600_000_000;
    bench.time.advance(hour - 1);
    assert_eq!(bench.invoke("lab.act_write_local", &write("x")).await.code(), Some(Code::DenialLoop));
    bench.time.advance(1);
    bench.pending("lab.act_write_local", &write("x")).await;
    // What nobody answered is no denial.
    for _ in 0..4 {
        bench.time.advance(120_000_000);
        bench.pending("lab.act_write_local", &write("z")).await;
    }
}

/// What an operator did is in the subject's own history, and in nobody else's.
#[tokio::test]
async fn decisions_stand_in_the_subjects_history() {
    use core::num::NonZeroU32;
    let limits =
        capability_core::approval::GrantLimit { longest: core::time::Duration::from_secs(60), uses: NonZeroU32::MIN };
    let bench = Bench::granting(capability_core::approval::GrantLimits::off().with("lab.repo", limits));
    bench.time.advance(5);
    deny_for(&bench, "x", Some(DenialReason::TooBroad), Some("smaller steps")).await;
    let approved = bench.pending("lab.act_write_local", &write("y")).await;
    bench.approve(approved).await;
    let edited = bench.pending("lab.order", &json!({ "to": "a", "count": 1 })).await;
    let changed = bench.executor.edit(&bench.operator(), &bench.session, edited, r#"{"to":"b","count":1}"#).await;
    assert!(changed.expect("it waits").superseded);
    let asked = bench.pending("lab.repo", &json!({ "repository": "r" })).await;
    let grant = bench.executor.grant(&bench.operator(), asked, limits).await.expect("there can be one");
    bench.executor.revoke(&bench.operator(), Some(grant.id)).await.expect("it lives");

    let history = bench.executor.history(&bench.session, 100).await.expect("memory answers");
    let acts: Vec<_> = history
        .iter()
        .map(|entry| match entry {
            HistoryEntry::Operator(act) => (act.deed, act.capability.as_str(), act.reason, act.note.as_deref()),
            HistoryEntry::Subject { .. } => panic!("{entry:?}"),
        })
        .collect();
    assert_eq!(
        acts,
        [
            (OperatorDeed::Denied, "lab.act_write_local", Some(DenialReason::TooBroad), Some("smaller steps")),
            (OperatorDeed::Approved, "lab.act_write_local", None, None),
            (OperatorDeed::Edited, "lab.order", None, None),
            (OperatorDeed::Approved, "lab.repo", None, None),
            (OperatorDeed::Granted, "lab.repo", None, None),
            (OperatorDeed::Revoked, "lab.repo", None, None),
        ]
    );
    assert_eq!(bench.executor.history(&bench.session, 2).await.expect("memory answers"), history[4..]);
    assert!(bench.executor.history(&bench.stranger(), 100).await.expect("memory answers").is_empty());
    // No one's words are shown where they do not belong.
    assert!(!format!("{history:?}").contains("smaller"));
}
