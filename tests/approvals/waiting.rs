//! Waiting for a person: no record, no use, and no answer missed.

use core::time::Duration;
use std::sync::Arc;

use capability_core::approval::ApprovalId;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::session::Mode;
use serde_json::json;

use crate::fixtures::Bench;

async fn waits(bench: &Arc<Bench>, id: ApprovalId) -> tokio::task::JoinHandle<()> {
    let waiting = {
        let bench = Arc::clone(bench);
        tokio::spawn(async move { bench.executor.answered(&bench.session, id).await.expect("memory answers") })
    };
    // It has looked once, and found nothing.
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert!(!waiting.is_finished());
    waiting
}

#[tokio::test]
async fn whoever_waits_is_woken_by_each_kind_of_answer_and_leaves_no_record() {
    for answer in ["approve", "deny", "edit"] {
        let bench = Arc::new(Bench::new());
        let id = bench.pending("lab.order", &json!({ "to": "a", "count": 1 })).await;
        let before = bench.events().len();
        let waiting = waits(&bench, id).await;
        assert_eq!(bench.events().len(), before);
        let begun = tokio::time::Instant::now();
        let kind = match answer {
            "approve" => {
                bench.approve(id).await;
                Kind::Executed
            }
            "deny" => {
                bench.deny(id, Some("no")).await;
                Kind::Denied
            }
            _ => {
                let (operator, arguments) = (bench.operator(), r#"{"to":"b","count":1}"#);
                let changed = bench.executor.edit(&operator, &bench.session, id, arguments).await;
                assert!(changed.expect("it waits").superseded);
                Kind::Superseded
            }
        };
        waiting.await.expect("no panic");
        // By the answer itself, not by the next look around.
        assert!(begun.elapsed() < Duration::from_millis(900), "{answer}");
        assert_eq!(bench.resume(id).await.kind(), kind);
    }
}

/// Giving up waiting decides nothing: the question is still there, and a later answer counts.
#[tokio::test]
async fn a_short_wait_denies_nothing() {
    let bench = Arc::new(Bench::new());
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    let short = tokio::time::timeout(Duration::from_millis(50), bench.executor.answered(&bench.session, id)).await;
    assert!(short.is_err());
    assert_eq!(bench.resume(id).await.kind(), Kind::Pending);
    bench.approve(id).await;
    bench.executor.answered(&bench.session, id).await.expect("memory answers");
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
}

#[tokio::test(start_paused = true)]
async fn it_ends_with_the_question_and_with_the_session() {
    let bench = Arc::new(Bench::new());
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    let waiting = waits(&bench, id).await;
    bench.time.advance(120_000_000);
    waiting.await.expect("no panic");
    assert_eq!(bench.resume(id).await.kind(), Kind::Expired);
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    let waiting = waits(&bench, id).await;
    bench.session.end();
    waiting.await.expect("no panic");
    // Nothing of somebody else's to wait for.
    let other = bench.session(2, Mode::Live, 1);
    bench.executor.answered(&bench.stranger(), id).await.expect("memory answers");
    bench.executor.answered(&other, ApprovalId::from_bytes([9; 16])).await.expect("memory answers");
}

#[tokio::test]
async fn an_operator_hears_of_every_change_at_the_desk() {
    let bench = Bench::new();
    let mut changes = bench.executor.changes(&bench.operator());
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    assert!(changes.has_changed().expect("it lives"), "asked");
    changes.mark_unchanged();
    bench.approve(id).await;
    assert!(changes.has_changed().expect("it lives"), "answered");
    changes.mark_unchanged();
    let _ = bench.resume(id).await;
    assert!(changes.has_changed().expect("it lives"), "used");
    changes.mark_unchanged();
    bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    changes.mark_unchanged();
    bench.time.advance(120_000_000);
    bench.executor.expire_due().await.expect("memory answers");
    assert!(changes.has_changed().expect("it lives"), "expired");
}
