//! Whose process a body has, and for how long.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::bodies::Sight;
use crate::lab::{Lab, eventually, is_there};

/// What holds a handle never meets what an earlier call left in its process.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_handles_serves_one_call() {
    let lab = Lab::open();
    for _ in 0..5 {
        let outcome = lab.invoke("cell.look", &json!({})).await;
        let sight: Sight = serde_json::from_str(outcome.result().unwrap()).unwrap();
        assert_eq!(sight.counted, 0);
    }
    let _ = lab.invoke("cell.read", &json!({ "deed": "answer" })).await;
    let worker = lab.worker().await;
    eventually("a worker goes when its call has ended", || !is_there(worker)).await;
}

/// What reads this device and holds nothing may be served by a process that served it before, unless something of the
/// earlier call still runs there.
#[tokio::test(flavor = "multi_thread")]
async fn only_a_pure_capability_is_served_again() {
    let lab = Lab::open();
    let mut counted = Vec::new();
    for _ in 0..20 {
        let outcome = lab.invoke("cell.add", &json!({ "a": 20, "b": 22 })).await;
        let (sum, count): (i64, u32) =
            serde_json::from_str(outcome.result().unwrap_or_else(|| panic!("{outcome:?}"))).unwrap();
        assert_eq!(sum, 42);
        counted.push(count);
    }
    assert!(counted.iter().any(|count| *count > 0), "{counted:?}");
    for _ in 0..3 {
        let outcome = lab.invoke("cell.litter", &json!({})).await;
        assert_eq!(outcome.result(), Some("0"), "{outcome:?}");
    }
}

/// What one subject's call left in a process is never met by another subject's.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_serves_one_subject() {
    let lab = Lab::open();
    let arguments = json!({ "a": 20, "b": 22 });
    for _ in 0..5 {
        for subject in ["agent:one", "agent:two", "local"] {
            let session = lab.session_of(subject.parse().unwrap());
            let outcome = lab.invoke_in(&session, "cell.add", &arguments).await;
            assert_eq!(outcome.result(), Some("[42,0]"), "{subject}: {outcome:?}");
        }
    }
}

/// A host that runs out of descriptors refuses what needs some, and leaves alone what runs.
#[test]
fn a_host_without_descriptors_kills_nobody() {
    const NAME: &str = "lifetime::a_host_without_descriptors_kills_nobody";
    const CHILD: &str = "CAPABILITY_TEST_WITHOUT_DESCRIPTORS";
    if std::env::var_os(CHILD).is_none() {
        // In a process of its own: the limit is the whole process's.
        let own = std::env::current_exe().expect("this program");
        let run = std::process::Command::new(own).args(["--exact", NAME, "--nocapture"]).env(CHILD, "1").output();
        let run = run.expect("this program again");
        assert!(
            run.status.success(),
            "{}{}",
            String::from_utf8_lossy(&run.stdout),
            String::from_utf8_lossy(&run.stderr)
        );
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let lab = Lab::open();
        let arguments = json!({ "deed": "await" });
        let starving = async {
            let worker = lab.began().await;
            let mut taken = Vec::new();
            while let Ok(file) = std::fs::File::open("/dev/null") {
                taken.push(file);
            }
            for _ in 0..8 {
                // Warm workers may still serve one or two; nobody is forked, and nobody ends for it.
                let _ = lab.invoke("cell.parent", &json!({})).await;
                assert!(is_there(worker), "a worker goes on whatever its host lacks");
            }
            drop(taken);
            let outcome = lab.invoke("cell.parent", &json!({})).await;
            assert_eq!(outcome.kind(), capability_core::audit::OutcomeKind::Executed, "{outcome:?}");
            assert!(is_there(worker));
        };
        tokio::select! {
            outcome = lab.invoke("cell.read", &arguments) => panic!("{outcome:?}"),
            () = starving => {}
        }
    });
}

/// What a body left to its runtime does not go on in the next call that the same process serves.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_was_left_behind_is_gone() {
    let lab = Lab::open();
    let mut counted = Vec::new();
    for _ in 0..20 {
        let outcome = lab.invoke("cell.leave", &json!({})).await;
        counted.push(outcome.result().and_then(|result| result.parse().ok()).unwrap_or_else(|| panic!("{outcome:?}")));
    }
    let most: u32 = counted.iter().copied().max().unwrap_or(0);
    assert!(most > 0, "no process served twice: {counted:?}");
    assert!(most < 20, "something counted that was not called: {counted:?}");
}

/// A caller that goes away takes the body along.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_has_no_process() {
    let lab = Lab::open();
    let arguments = json!({ "deed": "busy" });
    let worker = tokio::select! {
        outcome = lab.invoke("cell.read", &arguments) => panic!("{outcome:?}"),
        worker = lab.began() => worker,
    };
    eventually("the worker is gone", || !is_there(worker)).await;
    eventually("it is on record", || lab.events().iter().any(|event| event["outcome"] == "cancelled")).await;
}

/// The session's end ends what runs in it.
#[tokio::test(flavor = "multi_thread")]
async fn an_ended_session_has_no_process() {
    let lab = Lab::open();
    let session = lab.session();
    let ending = async {
        lab.began().await;
        session.end();
    };
    let begun = Instant::now();
    let arguments = json!({ "deed": "await" });
    let (outcome, ()) = tokio::join!(lab.invoke_in(&session, "cell.read", &arguments), ending);
    assert_eq!(outcome.kind(), capability_core::audit::OutcomeKind::Cancelled, "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(50));
    let worker = lab.worker().await;
    eventually("the worker is gone", || !is_there(worker)).await;
}

/// A host whose zygote was killed starts another; one that is closed leaves none behind.
#[test]
fn zygotes_come_back_and_go_with_their_host() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let last = runtime.block_on(async {
        let lab = Lab::open();
        let first = zygote(&lab).await;
        let pid = rustix::process::Pid::from_raw(i32::try_from(first).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        eventually("the zygote is gone", || !is_there(first)).await;
        let second = zygote(&lab).await;
        assert!(second != first && is_there(second));
        second
    });
    drop(runtime);
    assert!(!is_there(last));
}

/// Workers go with the process that they were forked from, and so with their host, however it ends.
#[tokio::test(flavor = "multi_thread")]
async fn no_worker_outlives_its_zygote() {
    let lab = Lab::open();
    let arguments = json!({ "deed": "sleep" });
    let killing = async {
        let worker = lab.began().await;
        let stat = std::fs::read_to_string(format!("/proc/{worker}/stat")).unwrap();
        let parent = stat.rsplit_once(')').and_then(|(_, words)| words.split_whitespace().nth(1)?.parse().ok());
        let parent = rustix::process::Pid::from_raw(parent.unwrap()).unwrap();
        rustix::process::kill_process(parent, rustix::process::Signal::KILL).unwrap();
        eventually("the worker is gone", || !is_there(worker)).await;
    };
    let begun = Instant::now();
    let (outcome, ()) = tokio::join!(lab.invoke("cell.read", &arguments), killing);
    assert_eq!(outcome.kind(), capability_core::audit::OutcomeKind::Panicked, "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(50));
}

/// The process that the next worker is forked from.
async fn zygote(lab: &Lab) -> u32 {
    let outcome = lab.invoke("cell.parent", &json!({})).await;
    outcome.result().and_then(|result| result.parse().ok()).unwrap_or_else(|| panic!("{outcome:?}"))
}
