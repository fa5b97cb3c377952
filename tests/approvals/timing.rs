//! Nothing counts after its time, wherever the time runs out.

use core::time::Duration;
use std::sync::Arc;

use capability_core::approval::ApprovalStatus;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::{AnswerFault, Limits};
use capability_core::store::{Answer, Moved};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::parts::Taking;

const LIFETIME: i64 = 120_000_000;

fn write() -> Value {
    json!({ "behaviour": "answer" })
}

fn expiries(bench: &Bench) -> usize {
    bench.events().iter().filter(|event| event["event"] == "expiry").count()
}

#[tokio::test]
async fn it_expires_when_its_time_has_come_and_not_a_microsecond_before() {
    for (waited, kind) in [(LIFETIME - 1, Kind::Executed), (LIFETIME, Kind::Expired), (LIFETIME + 1, Kind::Expired)] {
        let bench = Bench::new();
        let id = bench.pending("lab.act_write_local", &write()).await;
        bench.approve(id).await;
        bench.time.advance(waited);
        assert_eq!(bench.resume(id).await.kind(), kind, "{waited}");
        assert_eq!(bench.world().ran(), usize::from(kind == Kind::Executed), "{waited}");
    }
}

#[tokio::test]
async fn the_caller_is_told_when_it_expires() {
    let bench = Bench::within(Limits { per_turn: 32, approval_lifetime: Duration::from_secs(7) });
    bench.time.advance(5);
    let outcome = bench.invoke("lab.act_write_local", &write()).await;
    let told = serde_json::to_value(&outcome).expect("JSON");
    assert_eq!(told["approval"]["expires_at"], "1970-01-01T00:00:07.000005Z");
}

#[tokio::test]
async fn answering_after_its_time_fails_and_runs_nothing() {
    for answer in [Answer::Approve, Answer::Deny { reason: None, note: Some("late".to_owned()) }] {
        let bench = Bench::new();
        let id = bench.pending("lab.act_write_local", &write()).await;
        bench.time.advance(LIFETIME);
        let answered = bench.executor.answer(&bench.operator(), id, answer).await;
        assert_eq!(answered, Err(AnswerFault::Not(Moved::Not(ApprovalStatus::Expired))));
        assert_eq!(bench.resume(id).await.kind(), Kind::Expired);
        assert_eq!((bench.world().ran(), expiries(&bench)), (0, 1));
    }
}

#[tokio::test]
async fn approved_in_time_and_resumed_late_is_expired_for_good() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_write_local", &write()).await;
    bench.time.advance(LIFETIME - 1);
    bench.approve(id).await;
    bench.time.advance(1);
    for _ in 0..3 {
        assert_eq!(bench.resume(id).await.kind(), Kind::Expired);
    }
    // A clock that is set back does not bring it back.
    bench.time.advance(-LIFETIME);
    assert_eq!(bench.resume(id).await.kind(), Kind::Expired);
    assert_eq!((bench.world().ran(), expiries(&bench)), (0, 1));
}

/// The last look is at consumption: time that runs out between the first look and the run counts, and is recorded.
#[tokio::test]
async fn time_that_runs_out_while_the_call_is_prepared_counts_and_is_recorded_once() {
    let bench = Bench::new();
    let id = bench.pending("lab.edit", &json!({})).await;
    bench.approve(id).await;
    let time = Arc::clone(&bench.time);
    bench.world().on_preview(move || time.advance(LIFETIME));
    assert_eq!(bench.resume(id).await.kind(), Kind::Expired);
    assert_eq!(bench.world().ran(), 0);
    bench.world().on_preview(|| ());
    assert_eq!(bench.resume(id).await.kind(), Kind::Expired);
    assert_eq!(expiries(&bench), 1);
    assert!(bench.found(id).await.is_some_and(|found| found.filed.is_none()), "and its content is erased");
}

/// Of operators who answer at once one is told that it took effect, and its answer is the only one on record.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_on_record_is_one_that_took_effect() {
    for _ in 0..200 {
        let bench = Arc::new(Bench::new());
        let id = bench.pending("lab.act_write_local", &write()).await;
        let answering = [Answer::Approve, Answer::Deny { reason: None, note: None }, Answer::Approve].map(|answer| {
            let bench = Arc::clone(&bench);
            tokio::spawn(async move {
                let step = if answer == Answer::Approve { "approved" } else { "denied" };
                bench.executor.answer(&bench.operator(), id, answer).await.map(|_| step)
            })
        });
        let mut took_effect = Vec::new();
        for answering in answering {
            took_effect.extend(answering.await.expect("no panic").ok());
        }
        let recorded: Vec<_> = bench
            .events()
            .iter()
            .filter(|event| event["event"] == "approval")
            .map(|event| event["step"].clone())
            .collect();
        assert_eq!((recorded.len(), took_effect.len()), (1, 1), "{recorded:?} {took_effect:?}");
        assert_eq!(recorded[0], took_effect[0]);
    }
}

/// An expiry is on record before the approval moves; while the log takes nothing, nothing runs and nothing is forgotten.
#[tokio::test]
async fn an_expiry_that_cannot_be_recorded_waits_for_the_log() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_write_local", &write()).await;
    bench.approve(id).await;
    bench.time.advance(LIFETIME);
    bench.tape.take(Taking::FailsFrom(0));
    assert_eq!(bench.executor.expire_due().await, Ok(0));
    assert_ne!(bench.found(id).await.expect("kept").summary.status, ApprovalStatus::Expired);
    assert_ne!(bench.resume(id).await.kind(), Kind::Executed);
    assert_eq!((bench.world().ran(), expiries(&bench)), (0, 0));
    bench.tape.take(Taking::All);
    assert_eq!(bench.executor.expire_due().await, Ok(1));
    assert_eq!(bench.found(id).await.expect("kept").summary.status, ApprovalStatus::Expired);
    assert_eq!((bench.executor.expire_due().await, expiries(&bench)), (Ok(0), 1));
}

/// A short wait is no answer: looking early changes nothing.
#[tokio::test]
async fn looking_early_denies_nothing() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_write_local", &write()).await;
    for _ in 0..10 {
        bench.time.advance(1_000_000);
        assert_eq!(bench.resume(id).await.kind(), Kind::Pending);
    }
    bench.approve(id).await;
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
}

/// Answer, expiry and resume at the boundary, in every order two threads find: one final state, at most one run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn racing_the_boundary_leaves_exactly_one_final_state() {
    for round in 0..300 {
        let bench = Arc::new(Bench::new());
        let id = bench.pending("lab.act_write_local", &write()).await;
        bench.time.advance(LIFETIME - 1);
        let (answering, ageing, resuming) = (Arc::clone(&bench), Arc::clone(&bench), Arc::clone(&bench));
        let answering =
            tokio::spawn(
                async move { answering.executor.answer(&answering.operator(), id, Answer::Approve).await.is_ok() },
            );
        let ageing = tokio::spawn(async move { ageing.time.advance(1) });
        let resuming = tokio::spawn(async move { resuming.resume(id).await.kind() });
        let answered = answering.await.expect("no panic");
        ageing.await.expect("no panic");
        let first = resuming.await.expect("no panic");
        let last = bench.resume(id).await;
        assert!(answered || first != Kind::Executed, "round {round}: nothing runs unanswered");
        let ran = bench.world().ran();
        assert_eq!(ran, usize::from(first == Kind::Executed), "round {round}");
        let status = bench.found(id).await.expect("there").summary.status;
        let expected = if ran == 1 { ApprovalStatus::Consumed } else { ApprovalStatus::Expired };
        assert_eq!(status, expected, "round {round}: {last:?}");
    }
}
