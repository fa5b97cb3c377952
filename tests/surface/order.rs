//! One order, one text, whatever the state.

use capability_core::provider::{AdmissionStatus, ProviderDecision};
use capability_core::surface::{LeftOut, RESIDENT_BUDGET, SurfaceOptions};
use proptest::prelude::*;

use crate::fixtures::Bench;
use crate::tools::{all, compiled, definition, in_state, names, provided, surface};

fn some(bench: &Bench) -> Vec<ProviderDecision> {
    let entry = |name| bench.executor.registry().resolve(name, 1).unwrap().entry();
    let mut decisions: Vec<ProviderDecision> =
        ["lab.asks", "lab.checked", "lab.scoped", "lab.typed", "lab.who"].map(|name| compiled(entry(name))).into();
    for (server, native) in [("files", "glob"), ("files", "grep"), ("tickets", "open")] {
        decisions.push(provided(entry("lab.scoped"), definition(server, native, "Finds things.")));
    }
    decisions
}

#[test]
fn catalog_then_operations_then_what_is_pinned_of_providers() {
    let bench = Bench::new();
    let made = surface(&bench.executor, &some(&bench), &["mcp-tickets--open", "mcp-files--grep", "mcp-nobody--x"]);
    assert_eq!(
        names(&made),
        [
            "lab-asks",
            "lab-checked",
            "lab-scoped",
            "lab-typed",
            "lab-who",
            "tool_search",
            "invoke_tool",
            "mcp-files--grep",
            "mcp-tickets--open",
        ]
    );
    assert_eq!(made.deferred().map(|tool| tool.name().to_string()).collect::<Vec<_>>(), ["mcp-files--glob"]);
    assert_eq!(made.unknown_pins(), ["mcp-nobody--x"]);
    assert_eq!(made.bytes(), made.array().len());
}

#[test]
fn the_text_is_the_same_in_every_order_and_every_run() {
    let bench = Bench::new();
    let decisions = all(&bench.executor);
    let made = surface(&bench.executor, &decisions, &["lab.who"]);
    let again = surface(&Bench::new().executor, &decisions, &["lab.who"]);
    assert_eq!(made.array(), again.array());
    // What an author's schema breaks is in nobody's array.
    assert!(made.left_out().iter().any(|(name, why)| (name.as_str(), why) == ("lab-faulty_schema", &LeftOut::Schema)));
    assert!(!names(&made).iter().any(|name| name == "lab-faulty_schema"));
    // Nor is it found: it is in no session's surface, and operators are told of it all the same.
    let bench = Bench::new();
    let made_for =
        capability_core::surface::Surface::of_session(&bench.executor, &bench.session, &SurfaceOptions::default());
    assert!(
        made_for
            .left_out()
            .iter()
            .any(|(name, why)| (name.as_str(), why) == ("lab-faulty_schema-v1", &LeftOut::Schema))
    );
    assert!(made_for.find("lab-faulty_schema").is_none());
    // Two versions are told apart, and no name means either.
    assert!(made.find("lab-asks").is_none());
    assert_eq!(made.find("lab-asks-v2").unwrap().decision().version.get(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_shuffle_changes_nothing(seed in any::<u64>(), states in prop::collection::vec(0..4_usize, 8)) {
        let bench = Bench::new();
        let pinned = ["mcp-files--glob"];
        let plain = surface(&bench.executor, &some(&bench), &pinned);

        let possible = [
            AdmissionStatus::Ready,
            AdmissionStatus::PolicyBlocked,
            AdmissionStatus::MissingRuntimeBinding,
            AdmissionStatus::ProviderOffline,
        ];
        let mut decisions: Vec<ProviderDecision> =
            some(&bench).into_iter().zip(&states).map(|(decision, at)| in_state(decision, possible[*at])).collect();
        let mut random = seed;
        for at in (1..decisions.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            decisions.swap(at, usize::try_from(random >> 33).unwrap() % (at + 1));
        }
        let shuffled = surface(&bench.executor, &decisions, &pinned);
        prop_assert_eq!(plain.array(), shuffled.array());
    }
}

#[test]
fn providers_come_and_go_and_the_catalog_stays_what_it_is() {
    let bench = Bench::new();
    let everything = some(&bench);
    let catalog: Vec<ProviderDecision> = everything.iter().filter(|d| d.definition.is_none()).cloned().collect();
    let pinned = ["mcp-files--glob"];
    let without = surface(&bench.executor, &catalog, &pinned).array();
    let with = surface(&bench.executor, &everything, &pinned).array();
    // Without the bracket at its end, the one is how the other begins.
    assert!(with.starts_with(without.strip_suffix(']').unwrap()) && with.len() > without.len());

    // And whatever can be called now is said beside it.
    let of = |status: AdmissionStatus| {
        let flipped: Vec<_> = everything.iter().map(|decision| in_state(decision.clone(), status)).collect();
        surface(&bench.executor, &flipped, &pinned)
    };
    assert_eq!(serde_json::to_string(&surface(&bench.executor, &everything, &pinned).facts()).unwrap(), "{}");
    for status in
        [AdmissionStatus::PolicyBlocked, AdmissionStatus::MissingRuntimeBinding, AdmissionStatus::ProviderOffline]
    {
        let flipped = of(status);
        assert_eq!(flipped.array(), with);
        let facts = flipped.facts();
        assert_eq!(facts.tools.len(), 6);
        assert!(facts.tools.values().all(|fact| fact.admission == status && fact.message.is_some()));
        let deferred: Vec<_> = facts.deferred.iter().map(|fact| (fact.source.clone(), fact.tools)).collect();
        assert_eq!(deferred, [(vec!["mcp", "files"], 1), (vec!["mcp", "tickets"], 1)]);
    }
    // What is not visible is not there at all.
    for status in [AdmissionStatus::Hidden, AdmissionStatus::Unsupported, AdmissionStatus::Malformed] {
        assert_eq!(names(&of(status)), ["tool_search", "invoke_tool"]);
        assert_eq!(of(status).tools().len(), 0);
    }
}

#[test]
fn what_does_not_fit_is_deferred_in_order_and_told() {
    let bench = Bench::new();
    let decisions = all(&bench.executor);
    let options = |budget, pinned: &[&str]| SurfaceOptions {
        budget,
        pinned: pinned.iter().map(|name| (*name).to_owned()).collect(),
        ..SurfaceOptions::default()
    };
    let of = |options: &SurfaceOptions| capability_core::surface::Surface::of(&bench.executor, &decisions, options);
    for budget in [0, 1_000, 1_500, 3_000, 5_000, RESIDENT_BUDGET] {
        let made = of(&options(budget, &[]));
        // The two operations are always there.
        assert!(made.bytes() <= budget || made.shown().count() == 0, "{made:?}");
        let told = made.left_out().iter().filter(|(_, why)| matches!(why, LeftOut::Budget { .. })).count();
        let faulty = made.left_out().len() - told;
        assert_eq!(made.deferred().count(), told + faulty);
        assert_eq!(made.shown().count() + told + faulty, made.tools().len());
    }
    // A pin is shown whatever it costs, in its own place, and takes from what is left.
    let pinned = of(&options(0, &["lab.typed", "lab-checked"]));
    assert_eq!(names(&pinned), ["lab-checked", "lab-typed", "tool_search", "invoke_tool"]);
}
