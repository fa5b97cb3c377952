//! The one table, as the executor keeps it.

use capability_core::Code;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::Class;
use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::capabilities::ACTING;

/// Four cells, each with and without a ticket: only the automatic one runs unasked, and the others only with an answer.
#[tokio::test]
async fn all_four_cells_with_and_without_a_ticket() {
    let mut table = Vec::new();
    for (name, class) in ACTING.into_iter().zip(Class::ALL) {
        let bench = Bench::new();
        let without = bench.invoke(name, &json!({ "behaviour": "answer" })).await;
        assert_eq!(bench.world().ran(), usize::from(!class.confirmation().is_required()), "{name}");
        let with = match without.approval() {
            None => None,
            Some(id) => {
                let unanswered = bench.resume(id).await;
                assert_eq!((unanswered.kind(), unanswered.approval()), (Kind::Pending, Some(id)), "{name}");
                assert_eq!(bench.world().ran(), 0, "{name}: an unanswered question answers nothing");
                bench.approve(id).await;
                assert_eq!(bench.world().ran(), 0, "{name}: an answer runs nothing by itself");
                Some(bench.resume(id).await.kind())
            }
        };
        assert_eq!(bench.world().ran(), 1, "{name}");
        table.push((class.to_string(), class.confirmation().as_str(), without.kind(), with));
    }
    let row = |class: &str, need, without, with| (class.to_owned(), need, without, with);
    assert_eq!(
        table,
        [
            row("read_only + local", "automatic", Kind::Executed, None),
            row("read_only + external", "required", Kind::Pending, Some(Kind::Executed)),
            row("mutating + local", "required", Kind::Pending, Some(Kind::Executed)),
            row("mutating + external", "required", Kind::Pending, Some(Kind::Executed)),
        ]
    );
}

/// A ticket for one thing is no ticket for the same thing again, for a like one, or in another version.
#[tokio::test]
async fn an_answer_is_for_one_invocation_and_not_for_the_next() {
    let bench = Bench::new();
    let id = bench.pending("lab.asks", &json!({ "text": "a" })).await;
    bench.approve(id).await;
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
    for name in ["lab.asks", "lab.asks_too"] {
        assert_eq!(bench.invoke(name, &json!({ "text": "a" })).await.kind(), Kind::Pending, "{name}");
    }
    assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalConsumed));
    assert_eq!(bench.world().ran(), 1);
}

/// The floor stands whatever an operator turns on: no switch, mode or declaration makes a required cell automatic.
#[tokio::test]
async fn no_setting_makes_a_required_cell_automatic() {
    for name in &ACTING[1..] {
        let bench = Bench::new();
        bench.bindings.bind_endpoints(true);
        for declared in [bench.session.clone(), bench.declaring(&[name])] {
            let outcome = bench
                .executor
                .invoke(&declared, crate::fixtures::bench::proposal(name, &json!({ "behaviour": "answer" })))
                .await;
            assert_eq!(outcome.kind(), Kind::Pending, "{name}");
        }
        assert_eq!(bench.world().ran(), 0, "{name}");
    }
}
