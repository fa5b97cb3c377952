//! How often, per turn: reserved once, before anybody is asked, and kept by the resumed call.

use std::sync::Arc;

use capability_core::Code;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::Limits;
use capability_core::session::Mode;
use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::bench::{ROOMY, proposal};

#[tokio::test]
async fn a_resumed_call_keeps_the_reservation_of_its_first_attempt() {
    let bench = Bench::new();
    let id = bench.pending("lab.once", &json!({ "text": "t" })).await;
    bench.approve(id).await;
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
    assert_eq!(bench.invoke("lab.once", &json!({ "text": "t" })).await.code(), Some(Code::TurnCap));
    let next = bench.session(1, Mode::Live, 2);
    assert_eq!(bench.executor.invoke(&next, proposal("lab.once", &json!({}))).await.kind(), Kind::Pending);
    let other = bench.session(2, Mode::Live, 1);
    assert_eq!(bench.executor.invoke(&other, proposal("lab.once", &json!({}))).await.kind(), Kind::Pending);
    assert_eq!(bench.world().effects(), ["t"]);
}

#[tokio::test]
async fn a_denied_or_expired_question_gives_no_reservation_back() {
    for deny in [true, false] {
        let bench = Bench::new();
        let id = bench.pending("lab.once", &json!({})).await;
        if deny {
            bench.deny(id, None).await;
        } else {
            bench.time.advance(120_000_000);
        }
        let _ = bench.resume(id).await;
        assert_eq!(bench.invoke("lab.once", &json!({})).await.code(), Some(Code::TurnCap));
    }
}

/// What never passed policy costs nothing.
#[tokio::test]
async fn refused_calls_reserve_nothing() {
    let bench = Bench::within(Limits { per_turn: 1, ..Limits::default() });
    for (name, arguments) in
        [("lab.nothing", "{}"), ("lab.act_read_local", "{"), ("lab.locked", "{}"), ("lab.denies", "{}")]
    {
        assert_eq!(bench.invoke_raw(name, arguments).await.kind(), Kind::Rejected, "{name}");
    }
    assert_eq!(bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await.kind(), Kind::Executed);
    let over = bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await;
    assert_eq!(over.code(), Some(Code::TurnTotal));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_at_once_get_no_more_than_the_cap() {
    let few = Limits { per_turn: 5, ..Limits::default() };
    for (name, arguments, limits, cap, code) in [
        ("lab.once", json!({}), ROOMY, 1, Code::TurnCap),
        ("lab.act_read_local", json!({ "behaviour": "wait" }), few, 5, Code::TurnTotal),
    ] {
        for _ in 0..20 {
            let bench = Arc::new(Bench::within(limits));
            let tasks: Vec<_> = (0..64)
                .map(|_| {
                    let (bench, arguments) = (Arc::clone(&bench), arguments.clone());
                    tokio::spawn(async move { bench.invoke(name, &arguments).await })
                })
                .collect();
            let mut codes = Vec::new();
            for task in tasks {
                codes.push(task.await.expect("no panic").code());
            }
            codes.sort_unstable();
            let expected: Vec<_> = (0..64).map(|at| (at >= cap).then_some(code)).collect();
            assert_eq!(codes, expected, "{name}");
        }
    }
}
