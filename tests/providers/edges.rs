//! What a person's own machine carries out: before this host, in its place never unless an operator says so, and not at all
//! once it has gone.

use std::collections::BTreeMap;
use std::sync::Arc;

use capability_core::approval::GrantLimits;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::Effect;
use capability_core::handle::{HandleFamily, ToolContent, ToolReply};
use capability_core::provider::{
    AdmissionStatus, Diagnostic, DynamicTools, ExplicitBinding, FallbackPolicy, FallbackRules, InMemoryEdge,
    NoProviders, ProviderReach, ProviderSnapshot, ProviderState, ProviderType, Providers as _, RemoteProviders, Route,
    Standing, Unbound, Whose,
};
use capability_core::session::Mode;
use capability_core::{Code, Failure, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::proposal;
use crate::fixtures::providers::provider;

const READS: &str = "lab.act_read_local";

fn call() -> Value {
    json!({ "behaviour": "answer" })
}

fn carrier(kind: ProviderType, id: &str, reach: ProviderReach) -> ProviderState {
    ProviderState { reach, carries_out: vec![READS.into()], ..provider(kind, id, vec![]) }
}

const OFFLINE: ProviderReach = ProviderReach::Offline("it went away");

/// A bench whose providers say who they are.
fn bench(states: Vec<ProviderState>, fallback: FallbackPolicy) -> Bench {
    let bench = Bench::providing(GrantLimits::off());
    bench.supplied.put(|revision| {
        ProviderSnapshot::new(revision, states).with_fallback(FallbackRules::default().with(READS, fallback))
    });
    bench.supplied.carry_out(|decision, _| Ok(json!({ "text": decision.provider_id })));
    bench
}

fn by(outcome: &Outcome) -> String {
    match outcome.result() {
        Some(result) => {
            let result: Value = serde_json::from_str(result).expect("a result is JSON");
            let ran = outcome.provider().map_or("host", |decision| &*decision.provider_id);
            if result["text"] == ran { ran.to_owned() } else { "host".to_owned() }
        }
        None => outcome.code().map_or_else(|| format!("{:?}", outcome.kind()), |code| code.to_string()),
    }
}

#[tokio::test]
async fn a_persons_machine_goes_before_this_host() {
    let bench = bench(vec![carrier(ProviderType::Edge, "desk", ProviderReach::Ready)], FallbackPolicy::Never);
    let outcome = bench.invoke(READS, &call()).await;
    assert_eq!(by(&outcome), "desk", "{outcome:?}");
    assert_eq!(outcome.provider().map(|decision| decision.route), Some(Route::EdgeBound));
    assert_eq!((bench.world().ran(), outcome.notice()), (0, None));
    // Another capability of this host is not the edge's, and is not sent there.
    let outcome = bench.invoke("lab.who", &json!({})).await;
    assert_eq!((outcome.kind(), outcome.provider().is_none()), (Kind::Pending, true), "{outcome:?}");
}

#[tokio::test]
async fn what_stands_in_is_approved_traced_and_told() {
    let desk = || carrier(ProviderType::Edge, "desk", OFFLINE);
    let never = bench(vec![desk()], FallbackPolicy::Never);
    let outcome = never.invoke(READS, &call()).await;
    assert_eq!(outcome.diagnostic(), Some(Diagnostic::ProviderOffline));
    assert!(outcome.message().is_some_and(|told| told.contains("it went away")));

    let disabled = bench(vec![desk()], FallbackPolicy::Disabled);
    let outcome = disabled.invoke(READS, &call()).await;
    assert_eq!((outcome.code(), outcome.diagnostic()), (Some(Code::FallbackDisabled), Some(Diagnostic::PolicyBlocked)));
    assert_eq!(disabled.world().ran(), 0);

    let approved = bench(vec![desk()], FallbackPolicy::Approved);
    let outcome = approved.invoke(READS, &call()).await;
    assert_eq!((outcome.kind(), by(&outcome).as_str()), (Kind::Executed, "host"), "{outcome:?}");
    assert_eq!(outcome.diagnostic(), Some(Diagnostic::FallbackSelected));
    assert_eq!(outcome.notice(), Some("`desk` cannot carry it out (it went away), so this host served in its place"));
    assert!(serde_json::to_string(&outcome).expect("it is JSON").contains("served in its place"));
    let fallbacks = approved.events().iter().filter(|event| event["event"] == "provider_fallback").count();
    assert_eq!(fallbacks, 1);
    let listed = approved.executor.decisions(&approved.session);
    let own = listed.compiled(READS, std::num::NonZeroU32::MIN).expect("it is registered");
    assert_eq!((own.fallback_from.as_deref(), own.admission_status), (Some("desk"), AdmissionStatus::Ready));
}

/// A look at a call is taken where it is shown and judged: here, whoever says to carry the capability out.
#[tokio::test]
async fn what_looks_before_anybody_is_asked_is_carried_out_here() {
    let bench = Bench::providing(GrantLimits::off());
    bench.supplied.carry_out(|_, _| panic!("nothing is sent there"));
    let edge = provider(ProviderType::Edge, "desk", vec![]);
    bench.supplied.set(vec![ProviderState { carries_out: vec!["lab.edit".into()], ..edge }]);
    let outcome = bench.run("lab.edit", &json!({})).await;
    let ran = outcome.provider().expect("it was decided between two");
    assert_eq!(
        (outcome.kind(), ran.provider_type, ran.route),
        (Kind::Executed, ProviderType::Compiled, Route::ServerControlPlane)
    );
    // Whoever has a machine that would is told that it did not.
    assert!(outcome.notice().is_some_and(|told| told.starts_with("`desk` declares it too")), "{outcome:?}");
}

/// What a person chose for a session is not replaced in silence, whatever the capability: not where the choice cannot be followed
/// either.
#[tokio::test]
async fn a_choice_that_cannot_be_followed_is_said_and_nothing_runs_here() {
    for (fallback, code) in [
        (FallbackPolicy::Never, Some(Code::ProviderOffline)),
        (FallbackPolicy::Disabled, Some(Code::FallbackDisabled)),
        (FallbackPolicy::Approved, None),
    ] {
        for declares in [true, false] {
            let bench = Bench::providing(GrantLimits::off());
            bench.supplied.carry_out(|_, _| panic!("nothing is sent there"));
            bench.supplied.put(|revision| {
                let carries_out = if declares { vec!["lab.edit".into()] } else { vec![] };
                let desk = ProviderState { carries_out, ..provider(ProviderType::Edge, "desk", vec![]) };
                let binding = ExplicitBinding {
                    session: Some(bench.session.identity().id),
                    capability: "lab.edit".into(),
                    kind: ProviderType::Edge,
                    provider: "desk".into(),
                };
                ProviderSnapshot::new(revision, vec![desk])
                    .with_bindings([binding])
                    .with_fallback(FallbackRules::default().with("lab.edit", fallback))
            });
            let listed = bench.executor.decisions(&bench.session);
            let shown = listed.compiled("lab.edit", std::num::NonZeroU32::MIN).expect("it is registered");
            assert_eq!(shown.code(), code);
            let outcome = bench.run("lab.edit", &json!({})).await;
            assert_eq!(outcome.code(), code, "{outcome:?}");
            match code {
                Some(_) => {
                    assert!(outcome.message().is_some_and(|told| told.contains("only this host carries it out")))
                }
                None => assert!(outcome.notice().is_some_and(|told| told.starts_with("`desk` cannot carry it out"))),
            }
            assert_eq!(bench.world().ran() > 0, code.is_none());
        }
    }
}

/// One that works less well than it could says so, and whoever stands in for it says both.
#[tokio::test]
async fn what_works_less_well_is_said_of_whoever_carries_it_out() {
    let poor = ProviderReach::Degraded("it answers slowly");
    let bench = bench(vec![carrier(ProviderType::Edge, "desk", poor)], FallbackPolicy::Never);
    let outcome = bench.invoke(READS, &call()).await;
    assert_eq!((by(&outcome).as_str(), outcome.notice()), ("desk", Some("it answers slowly")));
    let shown = bench.executor.decisions(&bench.session);
    let own = shown.compiled(READS, std::num::NonZeroU32::MIN).expect("it is registered");
    assert_eq!(own.user_visible_message.as_deref(), Some("it answers slowly"));

    let states = || vec![carrier(ProviderType::Edge, "desk", OFFLINE), carrier(ProviderType::Relay, "cloud", poor)];
    let bench = self::bench(states(), FallbackPolicy::Approved);
    bench.bindings.unbind(HandleFamily::Context);
    let outcome = bench.invoke(READS, &call()).await;
    let told = outcome.notice().unwrap_or_default().to_owned();
    assert!(
        told.contains("`desk` cannot carry it out (it went away), so `cloud` served")
            && told.ends_with("; it answers slowly"),
        "{told} {outcome:?}"
    );

    // A host that has nothing bound is no provider that went away.
    let bench =
        self::bench(vec![carrier(ProviderType::Relay, "cloud", ProviderReach::Ready)], FallbackPolicy::Approved);
    bench.bindings.unbind(HandleFamily::Context);
    let outcome = bench.invoke(READS, &call()).await;
    let ran = outcome.provider().expect("it was decided");
    assert_eq!(ran.degraded_reason.as_deref(), Some("nothing is bound to it here"), "{outcome:?}");
    assert_eq!(
        outcome.notice(),
        Some("this host cannot carry it out (nothing is bound to it here), so `cloud` served in its place")
    );
}

/// Whoever is asked sees who would carry it out, which is what the answer is bound to.
#[tokio::test]
async fn whoever_is_asked_is_told_who_would_carry_it_out() {
    const WRITES: &str = "lab.act_write_local";
    let bench = Bench::providing(GrantLimits::off());
    let edge = |reach| ProviderState {
        reach,
        carries_out: vec![WRITES.into()],
        ..provider(ProviderType::Edge, "desk", vec![])
    };
    let asked = async |states: Vec<ProviderState>| {
        bench.supplied.put(|revision| {
            ProviderSnapshot::new(revision, states)
                .with_fallback(FallbackRules::default().with(WRITES, FallbackPolicy::Approved))
        });
        let id = bench.pending(WRITES, &call()).await;
        let filed = bench.found(id).await.expect("it is filed").filed.expect("it has its content");
        filed.approval.provider.map(|carrier| carrier.to_string())
    };
    assert_eq!(asked(vec![]).await, None);
    assert_eq!(asked(vec![edge(ProviderReach::Ready)]).await.as_deref(), Some("edge `desk`"));
    assert_eq!(asked(vec![edge(OFFLINE)]).await.as_deref(), Some("this host, in the place of `desk`"));
}

/// What an edge gave its answer to is that call of that edge: an approval for it is none for this host.
#[tokio::test]
async fn an_approval_is_for_whoever_would_have_carried_it_out() {
    const WRITES: &str = "lab.act_write_local";
    let bench = Bench::providing(GrantLimits::off());
    let state = |reach| ProviderState {
        reach,
        carries_out: vec![WRITES.into()],
        ..provider(ProviderType::Edge, "desk", vec![])
    };
    let approved = || FallbackRules::default().with(WRITES, FallbackPolicy::Approved);
    bench.supplied.put(|revision| ProviderSnapshot::new(revision, vec![state(ProviderReach::Ready)]));
    let id = bench.pending(WRITES, &call()).await;
    bench.approve(id).await;
    bench.supplied.put(|revision| ProviderSnapshot::new(revision, vec![state(OFFLINE)]).with_fallback(approved()));
    assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalMismatch));
    assert_eq!(bench.world().ran(), 0);
}

#[tokio::test]
async fn what_a_provider_gives_back_is_checked_here() {
    let bench = bench(vec![carrier(ProviderType::Edge, "desk", ProviderReach::Ready)], FallbackPolicy::Never);
    bench.supplied.carry_out(|_, _| Ok(json!({ "unheard": "of" })));
    assert_eq!(bench.invoke(READS, &call()).await.kind(), Kind::ResultInvalid);
    bench.supplied.carry_out(|_, _| Ok(json!({ "text": "x".repeat(1 << 20) })));
    assert_eq!(bench.invoke(READS, &call()).await.kind(), Kind::ResultTooLarge);
    bench.supplied.carry_out(|_, _| Err(Failure::public("no such thing")));
    let outcome = bench.invoke(READS, &call()).await;
    assert_eq!((outcome.kind(), outcome.message().as_deref()), (Kind::Failed, Some("no such thing")));
    let last = bench.last_outcome();
    assert_eq!((&last["isolation"], &last["provided"]["id"]), (&json!("none"), &json!("desk")));
    // It goes away while it answers.
    let supplied = Arc::clone(&bench.supplied);
    bench.supplied.carry_out(move |_, _| {
        supplied.set(vec![]);
        Ok(json!({ "text": "desk" }))
    });
    assert_eq!(bench.invoke(READS, &call()).await.kind(), Kind::Failed);
}

#[tokio::test]
async fn what_is_chosen_for_a_session_goes_first_and_is_not_replaced_in_silence() {
    let bench = bench(vec![], FallbackPolicy::Never);
    let other = bench.session(2, Mode::Live, 1);
    let states = || {
        vec![
            carrier(ProviderType::Edge, "desk", ProviderReach::Ready),
            carrier(ProviderType::Edge, "attic", ProviderReach::Ready),
        ]
    };
    let choosing = |kind, id: &str| ExplicitBinding {
        session: Some(bench.session.identity().id),
        capability: READS.into(),
        kind,
        provider: id.into(),
    };
    for (kind, id, served) in [
        (ProviderType::Edge, "desk", "desk"),
        (ProviderType::Edge, "attic", "attic"),
        (ProviderType::Compiled, "compiled", "host"),
        (ProviderType::Edge, "cellar", "provider_offline"),
        (ProviderType::Mcp, "desk", "provider_offline"),
    ] {
        let binding = choosing(kind, id);
        bench.supplied.put(|revision| ProviderSnapshot::new(revision, states()).with_bindings([binding]));
        assert_eq!(by(&bench.invoke(READS, &call()).await), served, "{kind:?} {id}");
        // It is that session's choice alone.
        assert_eq!(by(&bench.executor.invoke(&other, proposal(READS, &call())).await), "attic");
    }
}

/// The order of preference, written down apart.
fn expected(states: &[ProviderState], who: &capability_core::session::SessionIdentity) -> String {
    let ranked = |rank: fn(&ProviderState) -> bool| {
        let mut own: Vec<_> = states.iter().filter(|state| rank(state) && state.serves(who)).collect();
        own.sort_by_key(|state| state.id.to_string());
        own.into_iter()
    };
    let edges = ranked(|state| state.kind == ProviderType::Edge);
    let scoped = ranked(|state| state.kind == ProviderType::Mcp && matches!(state.whose, Whose::Session(_)));
    let mut first = edges.chain(scoped);
    first.next().map_or("host".to_owned(), |state| {
        if state.reach.is_there() { state.id.to_string() } else { "provider_offline".to_owned() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// Whatever order providers are named in, the same one serves.
    #[test]
    fn priority_does_not_depend_on_order(
        picked in prop::collection::vec((0..3_usize, 0..4_usize, any::<bool>(), 0..3_u8), 0..6),
        turned in 0..6_usize,
    ) {
        let bench = bench(vec![], FallbackPolicy::Never);
        let own = bench.session.identity().id;
        let other = capability_core::session::SessionId::from_bytes([9; 16]);
        let kinds = [ProviderType::Edge, ProviderType::Mcp, ProviderType::Relay];
        let mut states: Vec<_> = picked.iter().map(|(kind, id, there, session)| ProviderState {
            whose: match session { 0 => Whose::Everybody, 1 => Whose::Session(own), _ => Whose::Session(other) },
            ..carrier(kinds[*kind], ["a", "b", "c", "d"][*id], if *there { ProviderReach::Ready } else { OFFLINE })
        }).collect();
        // Names are unique in one kind.
        let mut taken = std::collections::BTreeSet::new();
        states.retain(|state| taken.insert((state.kind, state.id.clone())));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut served = Vec::new();
        for _ in 0..2 {
            bench.supplied.set(states.clone());
            served.push(runtime.block_on(async { by(&bench.run(READS, &call()).await) }));
            states.reverse();
            if !states.is_empty() { let by = turned % states.len(); states.rotate_left(by); }
        }
        prop_assert_eq!(&served[0], &served[1]);
        prop_assert_eq!(&served[0], &expected(&states, bench.session.identity()));
    }
}

fn contracts(named: &[&str], ids: &[(&str, &str)]) -> DynamicTools {
    let contracts: Vec<Value> = named
        .iter()
        .map(|name| json!({ "name": name, "description": "Does.", "input_schema": { "type": "object" }, "claims": { "read_only": true } }))
        .collect();
    let ids: BTreeMap<_, _> = ids.iter().copied().collect();
    serde_json::from_value(json!({ "contracts": contracts, "native_ids": ids })).expect("it is one")
}

/// Tools that a command line declares: only with an identity each, and never in a compiled capability's place.
#[test]
fn only_a_declared_contract_with_an_identity_of_its_own_is_bound() {
    let registry = capability_core::Registry::collect(&["capability-tests", "capabilities"]).expect("fit to start");
    let tools = contracts(
        &["deploy", "lint", "twin_a", "twin_b", "blank", "alike", "lab.who", "mcp.call", "again", "again"],
        &[
            ("deploy", "cli/deploy"),
            ("twin_a", "same"),
            ("twin_b", "same"),
            ("blank", " "),
            // The first letter is none of this alphabet.
            ("alike", "\u{430}lpha"),
            ("lab.who", "who"),
            ("again", "again"),
            ("undeclared", "x"),
        ],
    );
    let (tools, unbound) = tools.accepted("desk", &registry);
    let expected = [
        ("again", Unbound::Conflicting),
        ("alike", Unbound::Invalid),
        ("blank", Unbound::Invalid),
        ("lab.who", Unbound::Builtin),
        ("lint", Unbound::Missing),
        ("mcp.call", Unbound::Builtin),
        ("twin_a", Unbound::Conflicting),
        ("twin_b", Unbound::Conflicting),
    ];
    assert_eq!(unbound, expected.map(|(name, why)| (name.to_owned(), why)).into());
    let mut seen: Vec<_> = tools.iter().map(|tool| (tool.definition().id.native.as_str(), tool.standing())).collect();
    seen.sort_by_key(|(native, _)| *native);
    assert_eq!(
        seen,
        [
            ("alike", Standing::Unbound),
            ("blank", Standing::Unbound),
            ("cli/deploy", Standing::Accepted),
            ("lint", Standing::Unbound),
            ("twin_a", Standing::Unbound),
            ("twin_b", Standing::Unbound),
        ]
    );
    // What it claims of its effect is a claim.
    assert!(tools.iter().all(|tool| tool.class().0.confirmation().is_required()));
}

#[tokio::test]
async fn an_edge_answers_for_its_tools_as_long_as_it_is_there() {
    let edge = Arc::new(
        InMemoryEdge::new(ProviderType::Edge, "desk", None, &[READS])
            .carrying_out(|_, _| Ok(json!({ "text": "desk" })))
            .answering(|native, _| {
                let text = native.to_owned();
                Ok(ToolReply { content: vec![ToolContent::Text { text }], structured: None, is_error: false })
            }),
    );
    let remotes = Arc::new(RemoteProviders::beside(Arc::new(NoProviders)));
    remotes.add(Arc::clone(&edge) as _);
    let registry = capability_core::Registry::collect(&["capability-tests", "capabilities"]).expect("fit to start");
    assert!(edge.advertise(contracts(&["deploy"], &[("deploy", "cli/deploy")]), &registry).is_empty());

    let bench = Bench::providing(GrantLimits::off());
    bench.supplied.stand_before(Arc::clone(&remotes) as _);
    let asked = Arc::clone(&remotes);
    bench.bindings.answer_tools(move |lease| {
        let (decision, arguments) = lease.provided().expect("it goes through");
        let answering = asked.call_tool(decision, arguments, lease.identity()).expect("it is one of these");
        futures_now(answering)
    });
    let deploy = json!({ "edge": "desk", "tool": "cli/deploy", "arguments": { "to": "x" } });
    let outcome = bench.run("edge.call", &deploy).await;
    assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?}");
    assert_eq!(by(&bench.invoke(READS, &call()).await), "desk");
    let revision = remotes.snapshot().revision();

    edge.set_online(false);
    assert!(remotes.snapshot().revision() > revision);
    let outcome = bench.invoke("edge.call", &deploy).await;
    assert_eq!(outcome.diagnostic(), Some(Diagnostic::ProviderOffline));
    assert_eq!(by(&bench.invoke(READS, &call()).await), "provider_offline");
    edge.set_online(true);
    // It lost the tool: the name is nobody's, and nothing takes its place.
    assert!(edge.advertise(DynamicTools::default(), &registry).is_empty());
    let outcome = bench.invoke("edge.call", &deploy).await;
    assert_eq!((outcome.diagnostic(), outcome.effect()), (Some(Diagnostic::UnknownTool), Effect::NotStarted));
    // The default of a server alone shows no tool of a person's machine.
    let alone = Bench::providing(GrantLimits::off());
    let names: Vec<_> = alone.executor.decisions(&alone.session).iter().map(|own| own.tool_name.to_string()).collect();
    assert!(names.iter().all(|name| !name.starts_with("edge-desk")), "{names:?}");
}

/// What is ready at once.
fn futures_now<T>(mut future: capability_core::BoxFuture<'static, T>) -> T {
    let waker = std::task::Waker::noop();
    match future.as_mut().poll(&mut std::task::Context::from_waker(waker)) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

/// What stood in delivers, although the first choice is back by then.
#[tokio::test]
async fn a_first_choice_that_comes_back_takes_nothing_from_what_stood_in() {
    let states = |reach| {
        vec![carrier(ProviderType::Edge, "desk", reach), carrier(ProviderType::Relay, "cloud", ProviderReach::Ready)]
    };
    let snapshot = move |revision, reach| {
        let rules = FallbackRules::default().with(READS, FallbackPolicy::Approved);
        ProviderSnapshot::new(revision, states(reach)).with_fallback(rules)
    };
    let bench = bench(vec![], FallbackPolicy::Approved);
    bench.supplied.put(|revision| snapshot(revision, OFFLINE));
    // This host goes before a relay, unless it does not serve the capability.
    assert_eq!(by(&bench.invoke(READS, &call()).await), "host");
    bench.bindings.unbind(HandleFamily::Context);
    let supplied = Arc::clone(&bench.supplied);
    bench.supplied.carry_out(move |decision, _| {
        supplied.put(|revision| snapshot(revision, ProviderReach::Ready));
        Ok(json!({ "text": decision.provider_id }))
    });
    // What a relay carries out has left the device: it asks, whatever the capability is here.
    let outcome = bench.run(READS, &call()).await;
    assert_eq!(by(&outcome), "cloud", "{outcome:?}");
    assert_eq!(outcome.notice(), Some("`desk` cannot carry it out (it went away), so `cloud` served in its place"));
}

/// What works less well than it could says so, and runs.
#[tokio::test]
async fn a_degraded_provider_is_told_and_not_absent() {
    let why = "its last list of tools could not be read";
    let bench = bench(vec![], FallbackPolicy::Never);
    let tools = vec![crate::fixtures::providers::tool("docs", "find")];
    let degraded = ProviderState { reach: ProviderReach::Degraded(why), ..provider(ProviderType::Mcp, "docs", tools) };
    bench.supplied.set(vec![degraded]);
    let decisions = bench.executor.decisions(&bench.session);
    let find = decisions.provided(ProviderType::Mcp, "docs", "find").expect("it is listed");
    assert_eq!((find.admission_status, find.degraded_reason.as_deref()), (AdmissionStatus::Ready, Some(why)));
    assert_eq!(find.user_visible_message.as_deref(), Some(why));
}
