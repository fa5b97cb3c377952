//! Who may use an approval, how often, and under which policy.

use capability_core::approval::ApprovalStatus;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::{AnswerFault, Ended};
use capability_core::policy::OptIn;
use capability_core::session::Mode;
use capability_core::store::{Answer, Approvals as _, Moved};
use capability_core::{Code, Outcome};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::{any_id, only, proposal};
use crate::fixtures::parts::Taking;

/// Everything a caller is told, without the record's number.
fn told(outcome: &Outcome) -> Value {
    let mut told = serde_json::to_value(outcome).expect("an outcome is JSON");
    told.as_object_mut().expect("an object").remove("receipt");
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_that_resume_at_once_exactly_one_executes_two_hundred_times() {
    for round in 0..200 {
        let bench = Bench::new();
        let id = bench.pending("lab.act_write_external", &json!({ "behaviour": "wait", "text": "t" })).await;
        bench.approve(id).await;
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let (executor, session) = (bench.executor.clone(), bench.session.clone());
                tokio::spawn(async move { executor.resume(&session, id).await })
            })
            .collect();
        let mut kinds = Vec::new();
        for task in tasks {
            let outcome = task.await.expect("no panic");
            kinds.push((outcome.kind(), outcome.code()));
        }
        kinds.sort_unstable();
        let expected = [(Kind::Executed, None), (Kind::Rejected, Some(Code::ApprovalConsumed))];
        assert_eq!(kinds, expected, "round {round}");
        assert_eq!(bench.world().effects(), ["t"], "round {round}");
    }
}

/// Answers and uses race as well: ten thousand approvals, an answer and two uses each, and not one runs twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_answers_and_uses_at_once_run_nothing_twice() {
    let bench = std::sync::Arc::new(Bench::new());
    for round in 0..10_000_usize {
        let session = bench.session(1, Mode::Live, round as u64 / 500);
        let call = proposal("lab.asks_often", &json!({ "text": format!("{round}") }));
        let id = bench.executor.invoke(&session, call).await.approval().expect("it asks");
        let racing: Vec<_> = (0..3)
            .map(|racer| {
                let bench = std::sync::Arc::clone(&bench);
                tokio::spawn(async move {
                    match racer {
                        1 => bench.approve(id).await,
                        _ => drop(bench.resume(id).await),
                    }
                })
            })
            .collect();
        for racer in racing {
            racer.await.expect("no panic");
        }
        let _ = bench.resume(id).await;
        assert_eq!(bench.world().ran(), round + 1);
        bench.approvals.kept.withdraw(id).await.expect("memory answers");
    }
}

#[tokio::test]
async fn an_approval_is_used_up_by_its_run_whatever_the_run_ends_as() {
    for behaviour in ["answer", "fail_public", "fail_before", "panic_before", "invalid", "too_large"] {
        let bench = Bench::new();
        let id = bench.pending("lab.act_write_local", &json!({ "behaviour": behaviour })).await;
        bench.approve(id).await;
        let _ = bench.resume(id).await;
        assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalConsumed), "{behaviour}");
        assert_eq!(bench.world().ran(), 1, "{behaviour}");
    }
}

#[tokio::test]
async fn a_denial_is_final_and_says_its_note() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    bench.deny(id, Some("ask me tomorrow")).await;
    for _ in 0..3 {
        let outcome = bench.resume(id).await;
        assert!(matches!(outcome.ended(), Ended::Denied { note: Some(note), .. } if note == "ask me tomorrow"));
    }
    let again = bench.executor.answer(&bench.operator(), id, Answer::Approve).await;
    assert_eq!(again, Err(AnswerFault::Not(Moved::Not(ApprovalStatus::Denied))));
    assert_eq!(bench.world().ran(), 0);
    assert!(!bench.tape.lines().contains("tomorrow"));
}

#[tokio::test]
async fn an_answer_cannot_be_given_twice_or_taken_back() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    bench.approve(id).await;
    for answer in [Answer::Approve, Answer::Deny { reason: None, note: None }] {
        let again = bench.executor.answer(&bench.operator(), id, answer).await;
        assert_eq!(again, Err(AnswerFault::Not(Moved::Not(ApprovalStatus::Approved))));
    }
    let none = bench.executor.answer(&bench.operator(), any_id(), Answer::Approve).await;
    assert_eq!(none, Err(AnswerFault::Not(Moved::Unknown)));
}

/// Somebody else's approval and none at all look the same, in every state, to the caller and in the record.
#[tokio::test]
async fn another_subject_cannot_resume_and_cannot_tell_that_there_is_something() {
    let bench = Bench::new();
    let stranger = bench.stranger();
    let none = told(&bench.executor.resume(&stranger, any_id()).await);
    let none_recorded = bench.last_outcome();
    assert_eq!(none["code"], "approval_unknown");
    let mut states = Vec::new();
    for state in ["pending", "approved", "denied", "consumed", "expired"] {
        let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
        match state {
            "approved" => bench.approve(id).await,
            "denied" => bench.deny(id, Some("no")).await,
            "consumed" => {
                bench.approve(id).await;
                let _ = bench.resume(id).await;
            }
            "expired" => bench.time.advance(120_000_000),
            _ => {}
        }
        let outcome = bench.executor.resume(&stranger, id).await;
        assert_eq!(told(&outcome), none, "{state}");
        assert_eq!(bench.last_outcome(), none_recorded, "{state}");
        let found = bench.found(id).await.expect("it is still there");
        states.push(found.summary.status.as_str());
    }
    assert_eq!(states, ["pending", "approved", "denied", "consumed", "expired"], "and nothing moved");
}

#[tokio::test]
async fn the_stored_identity_runs_not_the_one_that_resumes() {
    let bench = Bench::new();
    let first = bench.session(7, Mode::Live, 41);
    let asked = bench.executor.invoke(&first, proposal("lab.who", &json!({}))).await;
    let id = asked.approval().expect("pending");
    bench.approve(id).await;
    let outcome = bench.executor.resume(&bench.session(8, Mode::Live, 99), id).await;
    let who = json!({ "subject": bench.subject.as_str(), "turn": 41, "mode": "live" });
    assert_eq!(outcome.result().map(|text| serde_json::from_str::<Value>(text).expect("JSON")), Some(who));
    let lines = bench.tape.lines();
    let last: Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["session"], &last["turn"]), (&json!("07".repeat(16)), &json!(41)));
}

#[tokio::test]
async fn identical_pending_proposals_are_two_approvals() {
    let bench = Bench::new();
    let call = json!({ "behaviour": "answer", "text": "same" });
    let one = bench.pending("lab.act_write_local", &call).await;
    let two = bench.pending("lab.act_write_local", &call).await;
    assert_ne!(one, two);
    bench.approve(one).await;
    assert_eq!(bench.resume(two).await.kind(), Kind::Pending);
    assert_eq!(bench.resume(one).await.kind(), Kind::Executed);
    assert_eq!(bench.resume(two).await.kind(), Kind::Pending);
    assert_eq!(bench.world().effects(), ["same"]);
}

/// What policy says at the moment of use counts, and a refusal by policy uses nothing up.
#[tokio::test]
async fn policy_tightened_after_the_answer_refuses_and_leaves_the_approval() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_read_external", &json!({ "behaviour": "answer" })).await;
    bench.approve(id).await;
    for (state, code) in [(OptIn::Off, Code::OptInOff), (OptIn::Damaged, Code::OptInDamaged)] {
        bench.switch.set(state);
        let outcome = bench.resume(id).await;
        assert_eq!((outcome.code(), outcome.stage()), (Some(code), code.stage()));
    }
    let undeclared = bench.declaring(&["lab.asks"]);
    assert_eq!(bench.executor.resume(&undeclared, id).await.code(), Some(Code::Undeclared));
    let found = bench.found(id).await.expect("there");
    assert_eq!((found.summary.status, found.filed.is_some()), (ApprovalStatus::Approved, true));
    bench.switch.set(OptIn::On);
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
    assert_eq!(bench.world().ran(), 1);
}

#[tokio::test]
async fn a_binding_that_went_away_after_the_answer_refuses_and_leaves_the_approval() {
    let bench = Bench::new();
    bench.bindings.bind_endpoints(true);
    let id = bench.pending("lab.needs_service", &json!({ "text": "t" })).await;
    bench.approve(id).await;
    bench.bindings.bind_endpoints(false);
    assert_eq!(bench.resume(id).await.code(), Some(Code::MissingRuntimeBinding));
    bench.bindings.bind_endpoints(true);
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
}

/// The stricter of both modes: neither a stricter resume nor a laxer one gets around the mode that was asked in.
#[tokio::test]
async fn resuming_runs_in_the_stricter_of_both_modes() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_read_external", &json!({ "behaviour": "answer" })).await;
    bench.approve(id).await;
    let resume = async |mode| bench.executor.resume(&bench.session(1, mode, 1), id).await.code();
    assert_eq!(resume(Mode::Plan).await, Some(Code::PlanMode));
    assert_eq!(only(&bench.last_outcome(), &["mode", "stage"]), json!({ "mode": "plan", "stage": "policy" }));
    assert_eq!(resume(Mode::Dream).await, Some(Code::ModeRefused));
    assert_eq!(resume(Mode::Replay).await, Some(Code::ModeRefused));
    assert_eq!(resume(Mode::Live).await, None);

    let planned = bench.session(5, Mode::Plan, 1);
    let asked = bench.executor.invoke(&planned, proposal("lab.who", &json!({}))).await;
    let id = asked.approval().expect("read-only and local may be asked for in plan mode");
    bench.approve(id).await;
    let outcome = bench.resume(id).await;
    assert!(outcome.result().is_some_and(|text| text.contains(r#""mode":"plan""#)), "{outcome:?}");
}

/// A question whose record could not be written is not asked, and an answer whose record could not be written is none.
#[tokio::test]
async fn what_cannot_be_recorded_is_neither_asked_nor_answered() {
    let bench = Bench::new();
    bench.tape.take(Taking::FailsOnce(1));
    let outcome = bench.invoke("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    assert_eq!((outcome.code(), outcome.approval()), (Some(Code::AuditUnavailable), None));
    assert_eq!(bench.executor.waiting(&bench.operator()).await.map(|open| open.len()), Ok(0));

    bench.tape.take(Taking::All);
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    bench.tape.take(Taking::FailsOnce(0));
    let answered = bench.executor.answer(&bench.operator(), id, Answer::Approve).await;
    assert_eq!(answered, Err(AnswerFault::Audit));
    // The call waits as before: an answer without its record has no effect, and one with it has.
    assert_eq!(bench.resume(id).await.approval(), Some(id));
    assert_eq!(bench.world().ran(), 0);
    bench.tape.take(Taking::All);
    bench.approve(id).await;
    assert!(bench.resume(id).await.result().is_some());
}
