//! Whatever a body does, it is dead when its time is up, and its host answers everybody else meanwhile.

use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::Effect;
use serde_json::json;

use crate::bodies::Deed;
use crate::lab::{Lab, is_there};

#[tokio::test(flavor = "multi_thread")]
async fn what_never_ends_is_ended_before_it_is_reported() {
    let lab = Lab::open();
    for deed in Deed::ENDLESS {
        let arguments = json!({ "deed": deed });
        let other = json!({ "a": 1, "b": 2 });
        let (outcome, meanwhile) = tokio::join!(lab.invoke("cell.brief", &arguments), lab.invoke("cell.add", &other));
        let closed = deed == Deed::CloseChannel;
        let expected = if closed { Kind::Panicked } else { Kind::TimedOut };
        assert_eq!((outcome.kind(), outcome.effect()), (expected, Effect::Unknown), "{deed:?}: {outcome:?}");
        assert_eq!(meanwhile.kind(), Kind::Executed, "{deed:?}: {meanwhile:?}");
        let worker = lab.worker().await;
        assert!(!is_there(worker), "{deed:?}: it is reported when it is gone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_its_process_down_takes_nothing_else_along() {
    let lab = Lab::open();
    for deed in Deed::DEADLY {
        let outcome = lab.invoke("cell.read", &json!({ "deed": deed })).await;
        let expected = if deed == Deed::GiantFrame { Kind::ResultTooLarge } else { Kind::Panicked };
        assert_eq!(outcome.kind(), expected, "{deed:?}: {outcome:?}");
        assert!(!is_there(lab.worker().await), "{deed:?}");
        let next = lab.invoke("cell.add", &json!({ "a": 1, "b": 2 })).await;
        assert_eq!(next.kind(), Kind::Executed, "after {deed:?}: {next:?}");
    }
}

/// Memory ends before the machine's does: by refusal, by the kernel, or at the deadline.
#[tokio::test(flavor = "multi_thread")]
async fn a_hog_is_stopped() {
    let lab = Lab::open();
    let outcome = lab.invoke("cell.brief", &json!({ "deed": "hog" })).await;
    assert!(matches!(outcome.kind(), Kind::Panicked | Kind::TimedOut), "{outcome:?}");
    assert!(!is_there(lab.worker().await));
}

/// The host's own runtime may be stuck: the deadline holds all the same.
#[test]
fn a_stuck_runtime_keeps_nobody_alive() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let lab = Lab::open();
        let arguments = json!({ "deed": "busy" });
        let call = lab.invoke("cell.brief", &arguments);
        let mut call = core::pin::pin!(call);
        let worker = tokio::select! {
            outcome = &mut call => panic!("{outcome:?}"),
            worker = lab.began() => worker,
        };
        // Nothing of this runtime turns for as long as this waits.
        let stuck = std::time::Instant::now();
        while is_there(worker) {
            assert!(stuck.elapsed() < std::time::Duration::from_secs(20), "nobody killed it");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(call.await.kind(), Kind::TimedOut);
    });
}
