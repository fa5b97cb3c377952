//! An approval binds to exactly what was shown.

use std::collections::BTreeSet;

use capability_core::approval::InvocationDigest;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::TargetKind;
use capability_core::session::Mode;
use capability_core::store::Approvals as _;
use capability_core::{Code, Proposal, Session};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::{claims, proposal};
use crate::fixtures::capabilities::{Line, Order};

#[tokio::test]
async fn a_changed_preview_is_a_mismatch_that_uses_nothing_up() {
    for (text, hash) in [("- a\n+ b", 2), ("- z\n+ b", 1), ("", 1)] {
        let bench = Bench::new();
        let show = |text: &str, hash| {
            bench.world().set_preview(text);
            bench.world().set_hash(hash);
        };
        show("- a\n+ b", 1);
        let id = bench.pending("lab.edit", &json!({ "text": "b" })).await;
        bench.approve(id).await;
        show(text, hash);
        for _ in 0..3 {
            let outcome = bench.resume(id).await;
            let code = Code::ApprovalMismatch;
            assert_eq!((outcome.code(), outcome.stage()), (Some(code), code.stage()), "{text:?} {hash}");
        }
        assert_eq!(bench.world().effects(), [""; 0]);
        show("- a\n+ b", 1);
        assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
        assert_eq!(bench.world().effects(), ["b"]);
        assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalConsumed));
    }
}

/// The digest that a proposal is filed under.
async fn filed_under(bench: &Bench, session: &Session, proposal: Proposal) -> InvocationDigest {
    let outcome = bench.executor.invoke(session, proposal).await;
    let id = outcome.approval().unwrap_or_else(|| panic!("not pending: {outcome:?}"));
    let digest = bench.found(id).await.and_then(|found| found.filed).expect("it has content").digest;
    // Taken back, not denied: nobody is asked for ever about what people deny.
    bench.approvals.kept.withdraw(id).await.expect("memory answers");
    digest
}

#[tokio::test]
async fn spelling_does_not_change_the_digest_and_meaning_does() {
    let bench = Bench::new();
    let of = async |arguments: &str| {
        *filed_under(&bench, &bench.session, Proposal::new("lab.order", 1, arguments)).await.as_bytes()
    };
    let base = of(r#"{"to":"a","count":30}"#).await;
    for same in [
        r#" { "count" : 30 , "to" : "a" } "#,
        r#"{"to":"\u0061","count":30}"#,
        r#"{"to":"a","count":30,"labels":{},"lines":[]}"#,
        r#"{"to":"a","count":30.0}"#,
        r#"{"to":"a","count":3e1}"#,
    ] {
        assert_eq!(of(same).await, base, "{same}");
    }
    let mut seen = vec![base];
    for other in [
        r#"{"to":"a","count":31}"#,
        r#"{"to":"a ","count":30}"#,
        r#"{"to":"A","count":30}"#,
        r#"{"to":"a\u200b","count":30}"#,
        r#"{"to":"a","count":30,"factor":0.0}"#,
        r#"{"to":"a","count":30,"factor":0.1}"#,
        r#"{"to":"a","count":30,"factor":0.10000000000000002}"#,
        r#"{"to":"a","count":30,"labels":{"":0}}"#,
        r#"{"to":"a","count":30,"lines":[{"item":"","delta":0}]}"#,
        r#"{"to":"a","count":9007199254740992}"#,
        r#"{"to":"a","count":9007199254740993}"#,
        r#"{"to":"a","count":18446744073709551615}"#,
        r#"{"to":"a","count":18446744073709551614}"#,
    ] {
        let digest = of(other).await;
        assert!(!seen.contains(&digest), "{other}");
        seen.push(digest);
    }
}

#[tokio::test]
async fn name_version_subject_session_and_preview_change_the_digest_and_turn_mode_and_claims_do_not() {
    let bench = Bench::new();
    let call = json!({ "text": "t" });
    let asks = || Proposal::new("lab.asks", 1, call.to_string());
    let base = filed_under(&bench, &bench.session, asks()).await;
    let claimed = asks().with_claims(claims("the user agreed", "it is confirmed"));
    assert_eq!(filed_under(&bench, &bench.session, claimed).await, base);
    assert_eq!(filed_under(&bench, &bench.session(1, Mode::Live, 2), asks()).await, base, "the turn");
    assert_eq!(filed_under(&bench, &bench.session(1, Mode::Plan, 1), asks()).await, base, "the mode");

    let mut digests = vec![base];
    digests.push(filed_under(&bench, &bench.session, Proposal::new("lab.asks", 2, call.to_string())).await);
    digests.push(filed_under(&bench, &bench.session, Proposal::new("lab.asks_too", 1, call.to_string())).await);
    digests.push(filed_under(&bench, &bench.session(2, Mode::Live, 1), asks()).await);
    digests.push(filed_under(&bench, &bench.stranger(), asks()).await);
    for (text, hash) in [("a", 1), ("b", 1), ("a", 2)] {
        bench.world().set_preview(text);
        bench.world().set_hash(hash);
        digests.push(filed_under(&bench, &bench.session, proposal("lab.edit", &call)).await);
    }
    let distinct: BTreeSet<_> = digests.iter().map(|digest| *digest.as_bytes()).collect();
    assert_eq!(distinct.len(), digests.len());
}

#[tokio::test]
async fn a_digest_is_never_shown_or_recorded() {
    let bench = Bench::new();
    let digest = filed_under(&bench, &bench.session, proposal("lab.asks", &json!({}))).await;
    assert_eq!(format!("{digest:?}"), "InvocationDigest");
    let hex: String = digest.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(!bench.tape.lines().contains(&hex));
}

fn any_order() -> impl Strategy<Value = Order> {
    let line = ("[^\0]{0,8}", any::<i32>()).prop_map(|(item, delta)| Line { item, delta });
    let factor = proptest::option::of(prop_oneof![
        proptest::num::f64::NORMAL,
        proptest::num::f64::SUBNORMAL,
        Just(0.0),
        Just(-0.0),
        Just(30.0),
        Just(1e20),
        Just(1e300),
    ]);
    let labels = proptest::collection::btree_map("[^\0]{0,6}", any::<u8>(), 0..4);
    ("[^\0]{0,12}", any::<u64>(), factor, labels, proptest::collection::vec(line, 0..4))
        .prop_map(|(to, count, factor, labels, lines)| Order { to, count, factor, labels, lines })
}

/// One change somewhere.
fn changed(mut order: Order, at: usize) -> Order {
    match at {
        0 => order.to.push('x'),
        1 => order.count = order.count.wrapping_add(1),
        2 => order.factor = order.factor.map_or(Some(0.5), |factor| (factor != 0.0).then_some(factor / 2.0 + 1.0)),
        3 => {
            let next = order.labels.get("k").map_or(0, |value| value.wrapping_add(1));
            order.labels.insert("k".to_owned(), next);
        }
        4 => order.lines.push(Line { item: "i".to_owned(), delta: 1 }),
        _ => match order.lines.first_mut() {
            Some(line) => line.delta = line.delta.wrapping_add(1),
            None => order.lines.push(Line { item: String::new(), delta: 0 }),
        },
    }
    order
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Whatever is approved is executed as it was sent, and two different orders never share a digest.
    #[test]
    fn what_runs_is_what_was_sent_and_any_change_of_it_is_another_digest(order in any_order(), at in 0_usize..6) {
        block_on(async {
            let bench = Bench::new();
            let sent = serde_json::to_value(&order).expect("JSON");
            let outcome = bench.run("lab.order", &sent).await;
            let result = outcome.result().unwrap_or_else(|| panic!("{sent}: {outcome:?}"));
            let back: Order = serde_json::from_str(result).expect("an order");
            assert_eq!(back, order);

            let digest = async |order: &Order| {
                let arguments = serde_json::to_value(order).expect("JSON");
                filed_under(&bench, &bench.session, proposal("lab.order", &arguments)).await
            };
            let other = changed(order.clone(), at);
            let (one, same, two) = (digest(&order).await, digest(&order).await, digest(&other).await);
            assert_eq!(one, same);
            assert_eq!(one == two, order == other, "{order:?} {other:?}");
        });
    }
}

/// What the approver saw is what the store keeps and what runs, also when the sender's buffer changes afterwards.
#[tokio::test]
async fn the_approver_sees_the_normalised_arguments_that_run() {
    let bench = Bench::new();
    let mut sent = br#"{ "count": 3e1, "to": "\u0061" }"#.to_vec();
    let outcome = bench.executor.invoke(&bench.session, Proposal::new("lab.order", 1, sent.clone())).await;
    sent.fill(b' ');
    let id = outcome.approval().expect("pending");
    let filed = bench.found(id).await.and_then(|found| found.filed).expect("content");
    let shown: Value = serde_json::from_slice(&filed.approval.arguments).expect("JSON");
    assert_eq!((&shown["to"], &shown["count"]), (&json!("a"), &json!(30)));
    assert_eq!(filed.approval.target, Some((TargetKind::Address, "a".to_owned())));
    bench.approve(id).await;
    let outcome = bench.resume(id).await;
    let ran: Value = serde_json::from_str(outcome.result().expect("a result")).expect("JSON");
    assert_eq!((&ran["to"], &ran["count"]), (&json!("a"), &json!(30)));
}
