//! A person puts a changed call in a pending one's place: a new call, looked at from the start.

use capability_core::approval::{ApprovalId, ApprovalStatus, Successor};
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::{AnswerFault, Edited, Ended, Limits};
use capability_core::policy::OptIn;
use capability_core::session::Mode;
use capability_core::store::{Approvals as _, Moved};
use capability_core::{Code, Stage};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::{claims, only, proposal};
use crate::fixtures::parts::Taking;

async fn edit(bench: &Bench, id: ApprovalId, arguments: &str) -> Edited {
    bench.executor.edit(&bench.operator(), &bench.session, id, arguments).await.expect("it waits")
}

fn order(to: &str, count: u64) -> Value {
    json!({ "to": to, "count": count })
}

async fn status(bench: &Bench, id: ApprovalId) -> ApprovalStatus {
    bench.found(id).await.expect("it is there").summary.status
}

#[tokio::test]
async fn the_changed_call_is_approved_in_the_originals_place_and_runs_once() {
    let bench = Bench::new();
    let original = bench.pending("lab.order", &order("b", 2)).await;
    let edited = edit(&bench, original, r#"{"count":30.0, "to":"a"}"#).await;
    let successor = edited.successor().expect("it is approved");
    assert!(edited.superseded && successor != original);
    assert_eq!(edited.outcome.kind(), Kind::Pending);
    // Whoever waits for the original is told what came in its place, and runs that.
    let told = bench.resume(original).await;
    assert!(matches!(told.ended(), Ended::Superseded { successor: Successor::By(by) } if *by == successor));
    assert_eq!(serde_json::to_value(&told).expect("JSON")["successor"], json!(successor));
    let done = bench.resume(successor).await;
    let result: Value = serde_json::from_str(done.result().expect("it ran")).expect("JSON");
    assert_eq!(only(&result, &["to", "count"]), order("a", 30), "as it was changed, normalised");
    assert_eq!(bench.resume(successor).await.code(), Some(Code::ApprovalConsumed));
    assert_eq!(bench.resume(original).await.kind(), Kind::Superseded);
    assert_eq!(bench.world().ran(), 1);
    // One recorded act, without a word of either call.
    let acts: Vec<_> = bench.events().into_iter().filter(|event| event["event"] == "approval").collect();
    assert_eq!(
        acts,
        [json!({
            "event": "approval", "approval": original, "step": "edited", "operator": "operator:anna", "successor": successor
        })]
    );
    assert!(bench.outcomes_per_invocation().iter().all(|outcomes| *outcomes == 1));
}

#[tokio::test]
async fn what_waits_in_its_place_says_so_and_claims_nothing() {
    let bench = Bench::new();
    let claimed = proposal("lab.order", &order("b", 2)).with_claims(claims("they asked for it", "mail of today"));
    let original = bench.executor.invoke(&bench.session, claimed).await.approval().expect("pending");
    let successor = edit(&bench, original, r#"{"to":"a","count":1}"#).await.successor().expect("approved");
    let content = bench.found(successor).await.and_then(|found| found.filed).expect("content").approval;
    assert_eq!(content.instead_of, Some(original));
    assert_eq!((content.claims.reason, content.claims.evidence), (None, None));
    assert_eq!(content.target.map(|(_, target)| target).as_deref(), Some("a"), "the target is the changed one");
    let before = bench.found(original).await.expect("there");
    assert!(before.filed.is_none(), "the original's content is erased");
}

/// A changed call that is not right is refused like any other, and the original is gone with it: its subject is told so,
/// and nothing looks like success.
#[tokio::test]
async fn a_changed_call_that_is_refused_takes_the_original_along() {
    for (arguments, code) in [
        (r#"{"to":"a","count":"many"}"#, Code::SchemaViolation),
        (r#"{"to":"a","count":1,"confirmed":true}"#, Code::SchemaViolation),
        (r#"{"to":"a","#, Code::ArgumentsMalformed),
        (r#"{"to":"a","to":"b","count":1}"#, Code::DuplicateKey),
    ] {
        let bench = Bench::new();
        let original = bench.pending("lab.order", &order("b", 2)).await;
        let edited = edit(&bench, original, arguments).await;
        assert_eq!((edited.outcome.code(), edited.superseded), (Some(code), true), "{arguments}");
        assert_eq!((edited.outcome.stage(), edited.successor()), (Stage::Validate, None));
        let told = bench.resume(original).await;
        assert_eq!((told.kind(), told.result()), (Kind::Superseded, None), "{arguments}");
        assert!(matches!(told.ended(), Ended::Superseded { successor: Successor::Refused(why) } if *why == code));
        assert_eq!(bench.world().ran(), 0);
        let act = bench.events().into_iter().find(|event| event["event"] == "approval").expect("recorded");
        assert_eq!(only(&act, &["step", "code", "successor"]), json!({ "step": "edited", "code": code }));
    }
}

#[tokio::test]
async fn policy_of_this_moment_judges_the_changed_call() {
    let bench = Bench::new();
    let original = bench.pending("lab.act_read_external", &json!({ "behaviour": "answer" })).await;
    bench.switch.set(OptIn::Off);
    let edited = edit(&bench, original, r#"{"behaviour":"answer","text":"t"}"#).await;
    assert_eq!((edited.outcome.code(), edited.superseded), (Some(Code::OptInOff), true));
    bench.switch.set(OptIn::On);
    assert_eq!(bench.resume(original).await.kind(), Kind::Superseded);

    // What the subject declares now counts, and a stricter session makes it stricter.
    let original = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    let undeclared = bench.declaring(&["lab.asks"]);
    let changed = r#"{"behaviour":"answer","text":"t"}"#;
    let edited = bench.executor.edit(&bench.operator(), &undeclared, original, changed).await.expect("it waits");
    assert_eq!(edited.outcome.code(), Some(Code::Undeclared));
    let original = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    let plan = bench.session(1, Mode::Plan, 1);
    let edited = bench.executor.edit(&bench.operator(), &plan, original, changed).await.expect("it waits");
    assert_eq!(edited.outcome.code(), Some(Code::PlanMode));
    assert_eq!(bench.world().ran(), 0);
}

/// What a host cannot look at is no reason to take a call away from its subject.
#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_look_leaves_the_original_as_it_was() {
    let bench = Bench::new();
    let original = bench.pending("lab.edit", &json!({ "text": "a" })).await;
    for (arguments, code) in
        [(r#"{"preview":"hang"}"#, Code::PrepareTimedOut), (r#"{"preview":"panic"}"#, Code::PreparePanicked)]
    {
        let edited = edit(&bench, original, arguments).await;
        assert_eq!((edited.outcome.code(), edited.superseded), (Some(code), false));
        assert_eq!(status(&bench, original).await, ApprovalStatus::Pending);
    }
    // The policy decision is taken, the record of the edit is not.
    bench.tape.take(Taking::FailsOnce(1));
    let edited = edit(&bench, original, r#"{"text":"b"}"#).await;
    assert_eq!((edited.outcome.code(), edited.superseded), (Some(Code::AuditUnavailable), false));
    bench.tape.take(Taking::All);
    assert_eq!(status(&bench, original).await, ApprovalStatus::Pending);
    bench.approve(original).await;
    assert_eq!(bench.resume(original).await.kind(), Kind::Executed);
    assert_eq!(bench.world().effects(), ["a"]);
}

#[tokio::test]
async fn only_what_waits_can_be_changed_and_only_for_its_own_subject() {
    let bench = Bench::new();
    let changed = r#"{"behaviour":"answer","text":"t"}"#;
    let edit = async |id| bench.executor.edit(&bench.operator(), &bench.session, id, changed).await.map(|_| ());
    for (state, not) in [
        ("approved", Moved::Not(ApprovalStatus::Approved)),
        ("denied", Moved::Not(ApprovalStatus::Denied)),
        ("expired", Moved::Not(ApprovalStatus::Expired)),
    ] {
        let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
        match state {
            "approved" => bench.approve(id).await,
            "denied" => bench.deny(id, None).await,
            _ => bench.time.advance(120_000_000),
        }
        assert_eq!(edit(id).await, Err(AnswerFault::Not(not)), "{state}");
    }
    assert_eq!(edit(ApprovalId::from_bytes([9; 16])).await, Err(AnswerFault::Not(Moved::Unknown)));
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    let as_stranger = bench.executor.edit(&bench.operator(), &bench.stranger(), id, changed).await;
    assert_eq!(as_stranger.map(|_| ()), Err(AnswerFault::Not(Moved::Unknown)));
    assert_eq!(status(&bench, id).await, ApprovalStatus::Pending);
    // Twice is once too often.
    assert_eq!(edit(id).await, Ok(()));
    assert_eq!(edit(id).await, Err(AnswerFault::Not(Moved::Not(ApprovalStatus::Superseded))));
    // What came in its place is answered already.
    let successor = bench.found(id).await.and_then(|found| found.successor);
    let Some(Successor::By(successor)) = successor else { panic!("{successor:?}") };
    assert_eq!(edit(successor).await, Err(AnswerFault::Not(Moved::Not(ApprovalStatus::Approved))));
    assert!(bench.resume(successor).await.result().is_some());
}

/// The turn's reservation goes over to what comes in its place: an edit takes none.
#[tokio::test]
async fn an_edit_takes_no_room_in_the_turn() {
    let bench = Bench::within(Limits { per_turn: 1, ..Limits::default() });
    let original = bench.pending("lab.once", &json!({ "text": "a" })).await;
    let edited = edit(&bench, original, r#"{"text":"b"}"#).await;
    let successor = edited.successor().expect("approved");
    assert!(bench.resume(successor).await.result().is_some());
    assert_eq!(bench.invoke("lab.once", &json!({})).await.code(), Some(Code::TurnCap));
}

/// The stored identity runs, not the session that the edit was made through.
#[tokio::test]
async fn the_originals_identity_runs_what_came_in_its_place() {
    let bench = Bench::new();
    let first = bench.session(7, Mode::Live, 41);
    let asked = bench.executor.invoke(&first, proposal("lab.order", &order("b", 1))).await;
    let original = asked.approval().expect("pending");
    let successor = edit(&bench, original, r#"{"to":"a","count":1}"#).await.successor().expect("approved");
    let kept = bench.found(successor).await.expect("there").summary.identity;
    assert_eq!(&kept, first.identity());
    // It binds to what it is: nothing else runs on it.
    let mut other = bench.found(successor).await.and_then(|found| found.filed).expect("content");
    other.approval.arguments = br#"{"to":"c","count":1}"#.to_vec();
    bench.approvals.kept.withdraw(successor).await.expect("memory answers");
    bench.approvals.kept.file(other).await.expect("memory answers");
    bench.approve(successor).await;
    assert_eq!(bench.resume(successor).await.code(), Some(Code::ApprovalMismatch));
}

/// Two who change, and one who approves, all at once: one of them, three hundred times.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_those_who_answer_and_change_at_once_exactly_one_does() {
    use std::sync::Arc;
    let bench = Arc::new(Bench::new());
    for round in 0..300_u64 {
        let turn = bench.session(1, Mode::Live, round);
        let asked = bench.executor.invoke(&turn, proposal("lab.order", &order("b", round))).await;
        let id = asked.approval().expect("pending");
        let racers: Vec<_> = (0..3)
            .map(|racer| {
                let bench = Arc::clone(&bench);
                tokio::spawn(async move {
                    if racer == 2 {
                        let answer = capability_core::store::Answer::Approve;
                        return bench.executor.answer(&bench.operator(), id, answer).await.is_ok();
                    }
                    let arguments = order(&format!("racer {racer}"), round).to_string();
                    let edited = bench.executor.edit(&bench.operator(), &bench.session, id, arguments).await;
                    edited.is_ok_and(|edited| edited.superseded)
                })
            })
            .collect();
        let mut won = Vec::new();
        for racer in racers {
            won.push(racer.await.expect("no panic"));
        }
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}: {won:?}");
        let mut ran = 0;
        for open in bench.executor.waiting(&bench.operator()).await.expect("memory answers") {
            ran += usize::from(bench.resume(open.id).await.result().is_some());
        }
        assert_eq!(ran, 1, "round {round}");
    }
}
