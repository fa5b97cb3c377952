//! A caller that goes away at any await point leaves one record, and nothing half done.

use core::future::poll_fn;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use capability_core::Outcome;
use capability_core::approval::ApprovalId;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::Class;
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::only;
use crate::fixtures::capabilities::ACTING;

/// Every store awaits before and after it answers, and the log is late.
fn slow() -> Bench {
    let bench = Bench::new();
    bench.approvals.manners.be_slow();
    bench.turns.manners.be_slow();
    bench.tape.be_late();
    bench
}

/// Polls at most so often, then drops. Gives the outcome if it came to that.
async fn poll_then_drop(bench: &Bench, polls: usize, future: impl Future<Output = Outcome>) -> Option<Outcome> {
    let mut future = pin!(future);
    for _ in 0..polls {
        let polled = poll_fn(|_| Poll::Ready(future.as_mut().poll(&mut Context::from_waker(Waker::noop())))).await;
        if let Poll::Ready(outcome) = polled {
            return Some(outcome);
        }
        bench.tape.settle();
        // The runtime lets one task poll its timers and channels only so often before it must yield.
        tokio::task::yield_now().await;
    }
    None
}

async fn to_the_end<T>(bench: &Bench, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        let polled = poll_fn(|_| Poll::Ready(future.as_mut().poll(&mut Context::from_waker(Waker::noop())))).await;
        if let Poll::Ready(value) = polled {
            return value;
        }
        bench.tape.settle();
        // The runtime lets one task poll its timers and channels only so often before it must yield.
        tokio::task::yield_now().await;
    }
}

async fn approved(bench: &Bench, name: &str, arguments: &Value) -> ApprovalId {
    let id = to_the_end(bench, bench.pending(name, arguments)).await;
    to_the_end(bench, bench.approve(id)).await;
    id
}

/// The record of what was dropped: it ended as it would have, or it was cancelled, and its effect is never better known
/// than it can be.
fn check(bench: &Bench, outcomes_before: usize, what: &str, class: Class) -> Value {
    let outcomes = bench.outcomes();
    assert_eq!(outcomes.len(), outcomes_before + 1, "{what}: exactly one record");
    assert!(bench.outcomes_per_invocation().iter().all(|outcomes| *outcomes == 1), "{what}");
    let record = only(outcomes.last().expect("there"), &["outcome", "stage", "effect"]);
    if record["outcome"] == "cancelled" {
        let began = bench.world().ran() > 0;
        let traceless = class == Class::ALL[0];
        let expected: &[&str] =
            if began && !traceless { &["unknown", "completed"] } else { &["not_started", "unknown"] };
        assert!(record["effect"].as_str().is_some_and(|effect| expected.contains(&effect)), "{what}: {record}");
        assert!(!began || traceless || record["effect"] != "not_started", "{what}: {record}");
    }
    record
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_at_every_await_point_leaves_exactly_one_record() {
    let mut points = 0;
    for (name, class) in ACTING.into_iter().zip(Class::ALL) {
        for behaviour in ["answer", "wait", "hang", "panic_after", "fail_private", "too_large"] {
            let arguments = json!({ "behaviour": behaviour, "text": "t" });
            for polls in 1.. {
                assert!(polls < 100, "{name} {behaviour} ends");
                let bench = slow();
                let what = format!("{name} {behaviour} dropped after {polls}");
                let outcome = if class.confirmation().is_required() {
                    let id = approved(&bench, name, &arguments).await;
                    let before = bench.outcomes().len();
                    let outcome = poll_then_drop(&bench, polls, bench.resume(id)).await;
                    check(&bench, before, &what, class);
                    // Whatever was dropped, it cannot run a second time.
                    let ran = bench.world().ran();
                    let again = poll_then_drop(&bench, 100, bench.resume(id)).await;
                    assert!(ran == 0 || bench.world().ran() == ran, "{what}: {again:?}");
                    outcome
                } else {
                    let outcome = poll_then_drop(&bench, polls, bench.invoke(name, &arguments)).await;
                    check(&bench, 0, &what, class);
                    outcome
                };
                points += 1;
                if outcome.is_some() || (behaviour == "hang" && polls == 30) {
                    break;
                }
            }
        }
    }
    assert!(points > 150, "the stores and the log really await: {points}");
}

/// The same on the way to a question: either it is asked and recorded, or nobody finds it.
#[tokio::test]
async fn dropping_a_call_before_its_question_is_recorded_leaves_one_record() {
    let mut kinds = Vec::new();
    for polls in 1.. {
        let bench = slow();
        let arguments = json!({ "behaviour": "answer" });
        let outcome = poll_then_drop(&bench, polls, bench.invoke("lab.act_write_local", &arguments)).await;
        let record = check(&bench, 0, &format!("after {polls}"), Class::ALL[2]);
        kinds.push(record["outcome"].clone());
        assert_eq!(bench.world().ran(), 0);
        if let Some(outcome) = outcome {
            assert_eq!(outcome.kind(), Kind::Pending);
            break;
        }
    }
    kinds.dedup();
    assert_eq!(kinds, [json!("cancelled"), json!("pending")], "cancelled until it is asked, pending from then on");
}

/// A preview that is waited for is an await point as well.
#[tokio::test(start_paused = true)]
async fn dropping_a_call_while_its_preview_is_made_leaves_one_record() {
    let bench = slow();
    let outcome = poll_then_drop(&bench, 3, bench.invoke("lab.edit", &json!({ "preview": "hang" }))).await;
    assert!(outcome.is_none());
    let record = check(&bench, 0, "a preview", Class::ALL[2]);
    assert_eq!(record, json!({ "outcome": "cancelled", "stage": "validate", "effect": "not_started" }));
}

/// A task that is aborted is a caller that goes away.
#[tokio::test]
async fn aborting_the_task_of_a_running_call_leaves_one_record() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_write_external", &json!({ "behaviour": "hang" })).await;
    bench.approve(id).await;
    let (executor, session) = (bench.executor.clone(), bench.session.clone());
    let task = tokio::spawn(async move { executor.resume(&session, id).await });
    while bench.world().ran() == 0 {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert!(task.await.is_err_and(|error| error.is_cancelled()));
    let record = only(&bench.last_outcome(), &["outcome", "stage", "effect"]);
    assert_eq!(record, json!({ "outcome": "cancelled", "stage": "execute", "effect": "unknown" }));
    assert_eq!(bench.outcomes_per_invocation(), [1, 1]);
}
