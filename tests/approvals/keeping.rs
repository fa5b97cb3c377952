//! What is kept of a pending call, for how long, and who may look.

use capability_core::Code;
use capability_core::approval::{ApprovalId, ApprovalStatus, Filed, InvocationDigest, PendingApproval};
use capability_core::executor::AnswerFault;
use capability_core::store::{Answer, Approvals as _, Filing, MAX_PENDING_PER_SUBJECT, MemoryApprovals, Moved};
use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::bench::{claims, proposal};

/// Content is there while it is needed and gone with the final state, whichever it is.
#[tokio::test]
async fn content_is_erased_at_the_end() {
    for end in [ApprovalStatus::Denied, ApprovalStatus::Expired, ApprovalStatus::Consumed] {
        let bench = Bench::new();
        let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer", "text": "sesame" })).await;
        let kept = bench.found(id).await.and_then(|found| found.filed).expect("kept while it waits");
        assert!(String::from_utf8_lossy(&kept.approval.arguments).contains("sesame"));
        match end {
            ApprovalStatus::Denied => bench.deny(id, None).await,
            ApprovalStatus::Expired => {
                bench.time.advance(120_000_000);
                assert_eq!(bench.executor.expire_due().await, Ok(1));
            }
            _ => {
                bench.approve(id).await;
                let _ = bench.resume(id).await;
            }
        }
        let found = bench.executor.approval(&bench.operator(), id).await.expect("memory answers").expect("a summary");
        assert_eq!((found.summary.status, found.filed.is_none(), found.note), (end, true, None));
    }
}

#[tokio::test]
async fn one_subject_may_have_so_many_waiting_and_another_is_not_shut_out() {
    let bench = Bench::new();
    let call = json!({ "behaviour": "answer" });
    let mut ids = Vec::new();
    for _ in 0..MAX_PENDING_PER_SUBJECT {
        ids.push(bench.pending("lab.act_write_local", &call).await);
    }
    let over = bench.invoke("lab.act_write_local", &call).await;
    assert_eq!((over.code(), over.approval()), (Some(Code::TooManyPending), None));
    assert!(bench.last_outcome().get("approval").is_none(), "no approval was made");
    let stranger = bench.stranger();
    let theirs = bench.executor.invoke(&stranger, proposal("lab.act_write_local", &call)).await;
    assert!(theirs.approval().is_some());
    bench.deny(ids[0], None).await;
    assert!(bench.invoke("lab.act_write_local", &call).await.approval().is_some(), "an answer makes room");
}

/// The desk lists what waits without content; content comes only with an `Operator` in hand, which nothing of a session
/// or a proposal becomes.
#[tokio::test]
async fn the_operator_sees_what_waits_in_order_and_its_content_by_id() {
    let bench = Bench::new();
    let mut ids = Vec::new();
    for text in ["one", "two", "three"] {
        let call = json!({ "behaviour": "answer", "text": text });
        let asked = proposal("lab.act_write_local", &call).with_claims(claims("because", "see above"));
        ids.push(bench.executor.invoke(&bench.session, asked).await.approval().expect("pending"));
        bench.time.advance(1);
    }
    bench.approve(ids[1]).await;
    bench.deny(ids[2], None).await;
    let operator = bench.operator();
    let waiting = bench.executor.waiting(&operator).await.expect("memory answers");
    let listed: Vec<(ApprovalId, ApprovalStatus)> = waiting.iter().map(|one| (one.id, one.status)).collect();
    assert_eq!(listed, [(ids[0], ApprovalStatus::Pending), (ids[1], ApprovalStatus::Approved)]);
    assert!(!serde_json::to_string(&waiting).expect("JSON").contains("because"), "summaries hold no content");
    let found = bench.executor.approval(&operator, ids[0]).await.expect("memory answers").expect("there");
    let filed = found.filed.expect("content");
    assert_eq!(filed.approval.claims, claims("because", "see above"));
    assert_eq!(filed.approval.because, [Code::FloorRequired]);
    assert_eq!(filed.approval.identity, *bench.session.identity());
}

#[tokio::test]
async fn a_pending_approval_survives_being_stored_as_text() {
    let bench = Bench::new();
    bench.world().set_preview("+ \u{1f600}");
    let id = bench.pending("lab.edit", &json!({ "text": "é\u{1}" })).await;
    let filed = bench.found(id).await.and_then(|found| found.filed).expect("content");
    let text = serde_json::to_string(&filed.approval).expect("JSON");
    assert_eq!(serde_json::from_str::<PendingApproval>(&text).expect("it reads back"), filed.approval);
}

#[tokio::test]
async fn memory_moves_an_approval_only_as_the_state_machine_does() {
    let bench = Bench::new();
    let id = bench.pending("lab.asks", &json!({})).await;
    let Filed { approval, digest, repeated, ground } =
        bench.found(id).await.and_then(|found| found.filed).expect("content");
    let store = MemoryApprovals::new();
    assert_eq!(store.file(Filed { approval: approval.clone(), digest, repeated, ground }).await, Ok(Filing::Filed));
    let (now, who) = (approval.created_at, bench.operator().name().clone());
    let not = |status| Ok(Moved::Not(status));
    assert_eq!(store.consume(id, digest, now).await, not(ApprovalStatus::Pending));
    assert_eq!(store.answer(id, Answer::Approve, &who, now).await, Ok(Moved::Yes));
    assert_eq!(store.answer(id, Answer::Approve, &who, now).await, not(ApprovalStatus::Approved));
    let other = InvocationDigest::from_bytes([0; 32]);
    assert_eq!(store.consume(id, other, now).await, Ok(Moved::Mismatch));
    assert_eq!(store.consume(id, digest, now).await, Ok(Moved::Yes));
    assert_eq!(store.consume(id, digest, now).await, not(ApprovalStatus::Consumed));
    assert_eq!(store.answer(id, Answer::Approve, &who, now).await, not(ApprovalStatus::Consumed));
    assert_eq!(store.expire_due(approval.expires_at).await, Ok(vec![]));
    assert_eq!(store.consume(ApprovalId::from_bytes([9; 16]), digest, now).await, Ok(Moved::Unknown));
}

#[tokio::test]
async fn a_store_that_is_down_refuses_and_loses_nothing() {
    let bench = Bench::new();
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    bench.approve(id).await;
    bench.approvals.manners.break_down(true);
    assert_eq!(bench.resume(id).await.code(), Some(Code::StoreUnavailable));
    let asked = bench.invoke("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    assert_eq!(asked.code(), Some(Code::StoreUnavailable));
    assert!(bench.executor.waiting(&bench.operator()).await.is_err());
    let answered = bench.executor.answer(&bench.operator(), id, Answer::Approve).await;
    assert_eq!(answered, Err(AnswerFault::Store));
    bench.approvals.manners.break_down(false);
    assert!(bench.resume(id).await.result().is_some());
    assert_eq!(bench.world().ran(), 1);
}
