//! A log that cannot be written: nothing starts before it, nothing is told after it.

use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::Class;
use capability_core::executor::Effect;
use capability_core::{Code, Outcome};
use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::capabilities::{ACTING, Behaviour};
use crate::fixtures::parts::Taking;

/// A call that has its answer, with the log failing from its `at`th record on.
async fn with_the_log_failing_from(at: usize, name: &str, behaviour: Behaviour, late: bool) -> (Bench, Outcome) {
    let bench = Bench::new();
    let arguments = json!({ "behaviour": behaviour, "text": "sesame" });
    let class = Class::ALL[ACTING.iter().position(|acting| *acting == name).expect("an acting fixture")];
    let id = if class.confirmation().is_required() {
        let id = bench.pending(name, &arguments).await;
        bench.approve(id).await;
        Some(id)
    } else {
        None
    };
    bench.tape.take(Taking::FailsFrom(at));
    if late {
        bench.tape.be_late();
    }
    let call = async {
        match id {
            Some(id) => bench.resume(id).await,
            None => bench.invoke(name, &arguments).await,
        }
    };
    let outcome = if late {
        let mut call = core::pin::pin!(call);
        loop {
            tokio::select! {
                biased;
                outcome = &mut call => break outcome,
                () = tokio::task::yield_now() => bench.tape.settle(),
            }
        }
    } else {
        call.await
    };
    (bench, outcome)
}

/// Record 0 is the decision, 1 the intent of whatever is not traceless, and the last one the outcome.
#[tokio::test]
async fn a_log_that_fails_before_execution_refuses_and_one_that_fails_after_withholds() {
    for (name, class) in ACTING.into_iter().zip(Class::ALL) {
        let last = if class == Class::ALL[0] { 1 } else { 2 };
        for at in 0..=last {
            let (bench, outcome) = with_the_log_failing_from(at, name, Behaviour::Answer, false).await;
            assert_eq!(outcome.receipt(), None, "{name} {at}");
            if at < last {
                assert_eq!(outcome.code(), Some(Code::AuditUnavailable), "{name} {at}: {outcome:?}");
                assert_eq!(outcome.effect(), Effect::NotStarted, "{name} {at}");
                assert_eq!((bench.world().ran(), bench.world().effects().len()), (0, 0), "{name} {at}: nothing runs");
            } else {
                assert_eq!((outcome.kind(), outcome.effect()), (Kind::Withheld, Effect::Completed), "{name} {at}");
                assert_eq!(bench.world().ran(), 1, "{name} {at}");
            }
            assert!(!format!("{outcome:?}").contains("sesame"), "{name} {at}: no result is released");
        }
    }
}

/// The same when the log says so only after a while.
#[tokio::test]
async fn a_log_that_fails_late_starts_no_call_that_leaves_a_trace() {
    for (name, class) in ACTING.into_iter().zip(Class::ALL) {
        let last = if class == Class::ALL[0] { 1 } else { 2 };
        for at in 0..=last {
            let (bench, outcome) = with_the_log_failing_from(at, name, Behaviour::Answer, true).await;
            let ran = bench.world().ran();
            if class == Class::ALL[0] {
                // Reading locally leaves no trace, so it does not wait for its decision to be durable.
                assert_eq!((outcome.kind(), ran), (Kind::Withheld, 1), "{name} {at}");
            } else if at < last {
                assert_eq!((outcome.code(), ran), (Some(Code::AuditUnavailable), 0), "{name} {at}");
            } else {
                assert_eq!((outcome.kind(), ran), (Kind::Withheld, 1), "{name} {at}");
            }
            assert!(!format!("{outcome:?}").contains("sesame"), "{name} {at}");
        }
    }
}

/// Nothing that a body says is released without its record, a public failure no more than a result.
#[tokio::test(start_paused = true)]
async fn no_text_of_a_body_is_released_when_its_outcome_cannot_be_recorded() {
    for (name, class) in ACTING.into_iter().zip(Class::ALL) {
        let outcome_at = if class == Class::ALL[0] { 1 } else { 2 };
        for behaviour in Behaviour::ALL {
            let (bench, outcome) = with_the_log_failing_from(outcome_at, name, behaviour, false).await;
            assert_eq!(bench.world().ran(), 1, "{name} {behaviour:?}");
            let told = serde_json::to_string(&outcome).expect("JSON");
            assert!(!told.contains("sesame") && outcome.result().is_none(), "{name} {behaviour:?}: {told}");
            assert_eq!((outcome.receipt(), outcome.stage().as_str()), (None, "audit"), "{name} {behaviour:?}");
        }
    }
}

/// The effect of what cannot be recorded is still told as it is.
#[tokio::test(start_paused = true)]
async fn the_effect_is_told_even_when_nothing_else_is() {
    for (behaviour, effect) in [
        (Behaviour::Answer, Effect::Completed),
        (Behaviour::FailPublic, Effect::Unknown),
        (Behaviour::FailBefore, Effect::NotStarted),
        (Behaviour::PanicAfter, Effect::Unknown),
        (Behaviour::Hang, Effect::Unknown),
        (Behaviour::TooLarge, Effect::Completed),
    ] {
        let (_, outcome) = with_the_log_failing_from(2, "lab.act_write_external", behaviour, false).await;
        assert_eq!(outcome.effect(), effect, "{behaviour:?}");
    }
}
