//! One order, one text, whatever the state.

use capability_core::approval::GrantLimits;
use capability_core::contract::{Class, Network, SideEffect};
use capability_core::provider::{
    AdmissionStatus, Carries, ExplicitBinding, ProviderDecision, ProviderReach, ProviderSnapshot, ProviderState,
    ProviderType, Whose,
};
use capability_core::surface::{FoundTool, LeftOut, RESIDENT_BUDGET, Surface, SurfaceCall, SurfaceOptions, Tool};
use capability_core::{Code, audit::OutcomeKind as Kind};
use proptest::prelude::*;

use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::providers::{provider, tool};
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
    let made_for = Surface::of_session(&bench.executor, &bench.session, &SurfaceOptions::default());
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

const READS: &str = "lab.act_read_local";

/// Who carries it out, and whether the session chose it.
type Carrier = (ProviderState, Option<ExplicitBinding>);

/// Who might carry a capability out, as a host's snapshot has it, and which class counts then.
fn carriers(bench: &Bench) -> Vec<(Class, Option<Carrier>)> {
    let session = bench.session.identity().id;
    let own = Class::new(SideEffect::ReadOnly, Network::Local);
    let of = |kind| ProviderState { carries_out: vec![READS.into()], ..provider(kind, "desk", vec![]) };
    let chosen = |kind| {
        let binding =
            ExplicitBinding { session: Some(session), capability: READS.into(), kind, provider: "desk".into() };
        (of(kind), Some(binding))
    };
    let mcp = |reach| ProviderState {
        reach,
        whose: Whose::Session(session),
        tools: vec![tool("desk", "find")],
        carries_out: vec![Carries { capability: READS.into(), by: Some("find".into()) }],
        ..of(ProviderType::Mcp)
    };
    vec![
        (own, None),
        (own, Some((of(ProviderType::Edge), None))),
        (Class::new(SideEffect::ReadOnly, Network::External), Some(chosen(ProviderType::Relay))),
        (Class::STRICTEST, Some((mcp(ProviderReach::Ready), None))),
        (Class::STRICTEST, Some((mcp(ProviderReach::Offline("it went away")), None))),
    ]
}

/// Whoever carries a capability out makes its class stricter, and with it nothing that is listed: neither the array, nor a tool's own
/// class, nor what it is selected by. That another class counts now is a fact beside it.
#[tokio::test]
async fn a_class_that_counts_for_now_is_a_fact_and_no_part_of_the_list() {
    let bench = Bench::providing(GrantLimits::off());
    let all = SurfaceOptions { every_compiled: true, ..SurfaceOptions::default() };
    let none = SurfaceOptions { budget: 0, ..SurfaceOptions::default() };
    let listed = |options: &SurfaceOptions| Surface::of_session(&bench.executor, &bench.session, options);
    let of_compiled = |made: &Surface| -> Vec<_> {
        let compiled = made.tools().iter().filter(|tool| !tool.is_foreign());
        let row = |tool: &Tool| {
            (tool.name().to_string(), tool.class(), tool.is_idempotent(), tool.selection(bench.executor.registry()))
        };
        compiled.map(row).collect()
    };
    let search = || -> FoundTool {
        match listed(&none).call("tool_search", br#"{"query":"lab.act_read_local"}"#) {
            SurfaceCall::Found(found) => {
                found.tools.into_iter().find(|tool| tool.name == "lab-act_read_local").unwrap()
            }
            other => panic!("{other:?}"),
        }
    };
    let plain = (listed(&all).array(), of_compiled(&listed(&all)));
    let first = search();
    for (counts, carrier) in carriers(&bench) {
        let there = carrier.as_ref().is_none_or(|(state, _)| state.reach.is_there());
        bench.supplied.put(|revision| match carrier {
            None => ProviderSnapshot::new(revision, vec![]),
            Some((state, binding)) => ProviderSnapshot::new(revision, vec![state]).with_bindings(binding),
        });
        let made = listed(&all);
        assert_eq!((made.array(), of_compiled(&made)), plain, "{counts}");
        let tool = made.find("lab-act_read_local").unwrap();
        assert_eq!(tool.decision().class, counts, "the flip is a real one");
        let told = (counts != tool.class()).then_some(counts);
        assert_eq!(tool.fact().and_then(|fact| fact.class), told, "{counts}");
        let facts = serde_json::to_value(made.facts()).unwrap();
        assert_eq!(facts["tools"]["lab-act_read_local"].get("class"), told.map(|told| json!(told)).as_ref());
        let deferred = serde_json::to_value(listed(&none).facts()).unwrap();
        let counted = deferred["deferred"].as_array().into_iter().flatten().any(|fact| fact["class"] == json!(counts));
        assert_eq!(counted, told.is_some(), "{deferred}");
        // What was found before is still that, and a call by it is judged by what counts.
        let again = search();
        assert_eq!((again.digest, again.class), (first.digest, first.class));
        assert_eq!(again.availability.and_then(|told| told.class), told);
        let invoke = json!({ "tool": first.name, "digest": first.digest, "arguments": { "behaviour": "answer" } });
        let SurfaceCall::Proposal(proposal) = listed(&none).call("invoke_tool", invoke.to_string().as_bytes()) else {
            panic!("a call is proposed");
        };
        bench.supplied.carry_out(|_, _| Ok(json!({ "text": "found" })));
        let outcome = bench.executor.invoke(&bench.session, proposal).await;
        match (there, told) {
            (false, _) => assert_eq!(outcome.code(), Some(Code::ProviderOffline), "{outcome:?}"),
            (true, Some(_)) => assert_eq!(outcome.kind(), Kind::Pending, "{outcome:?}"),
            (true, None) => assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?}"),
        }
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
    let of = |options: &SurfaceOptions| Surface::of(&bench.executor, &decisions, options);
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
