//! What is shown and what runs: one decision, held against one another through both doors.

use core::num::NonZeroU32;
use std::collections::BTreeMap;

use capability_core::approval::GrantLimits;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::{Class, Network, SideEffect};
use capability_core::handle::{HandleFamily, ToolContent, ToolReply};
use capability_core::policy::OptIn;
use capability_core::provider::{
    AdmissionStatus, Decisions, Diagnostic, ExplicitBinding, FallbackPolicy, FallbackRules, ProvidedTool,
    ProviderDecision, ProviderReach, ProviderSnapshot, ProviderState, ProviderType, Route, RuntimeBindingStatus,
    Standing, Whose,
};
use capability_core::self_model::Ability;
use capability_core::session::Mode;
use capability_core::surface::{Surface, SurfaceCall, SurfaceOptions};
use capability_core::{Code, Outcome, Session};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::proposal;
use crate::fixtures::providers::{definition, provider, tool};

const V1: NonZeroU32 = NonZeroU32::MIN;

/// A bench with one provider of each kind of trouble.
fn bench() -> Bench {
    let bench = Bench::providing(GrantLimits::off());
    bench.supplied.put(|revision| {
        let mcp = |id: &str, tools| provider(ProviderType::Mcp, id, tools);
        let offline = ProviderReach::Offline("it went away");
        let states = vec![
            mcp(
                "docs",
                vec![
                    tool("docs", "find"),
                    tool("docs", "changed").standing_at(Standing::Changed),
                    tool("docs", "unbound").standing_at(Standing::Unbound),
                ],
            ),
            ProviderState { reach: offline, ..mcp("gone", vec![tool("gone", "find")]) },
            ProviderState {
                whose: Whose::Session(capability_core::session::SessionId::from_bytes([9; 16])),
                ..mcp("theirs", vec![tool("theirs", "find")])
            },
            ProviderState {
                reach: offline,
                carries_out: vec!["lab.asks".into(), "lab.order".into(), "lab.nowhere".into()],
                ..provider(ProviderType::Edge, "desk", vec![])
            },
        ];
        ProviderSnapshot::new(revision, states)
            .with_fallback(FallbackRules::default().with("lab.order", FallbackPolicy::Disabled))
    });
    bench.bindings.answer_tools(|_| {
        Ok(ToolReply { content: vec![ToolContent::Text { text: "x".to_owned() }], structured: None, is_error: false })
    });
    bench
}

/// Arguments that a decision's schema accepts, and that lead to an answer where the capability runs.
fn arguments(decision: &ProviderDecision) -> Value {
    if decision.definition.is_some() {
        return json!({ "q": "a" });
    }
    match decision.capability.as_str() {
        "lab.act_read_local" | "lab.act_read_external" | "lab.act_write_local" | "lab.act_write_external" => {
            json!({ "behaviour": "answer" })
        }
        "lab.order" => json!({ "to": "somebody", "count": 1 }),
        "lab.scoped" => json!({ "server": "docs" }),
        _ => json!({}),
    }
}

/// The state that a call's outcome shows, if it went as far as to show one.
fn shown_by(outcome: &Outcome) -> Option<AdmissionStatus> {
    match outcome.kind() {
        Kind::Executed | Kind::Pending | Kind::Failed => Some(AdmissionStatus::Ready),
        // What its arguments, or a fault behind it, make of a call is not the tool's state.
        _ => outcome.code().and_then(AdmissionStatus::of).filter(|shown| *shown != AdmissionStatus::Malformed),
    }
}

/// Calls everything that is listed, compares, and counts the states that were seen.
async fn through_both_doors(bench: &Bench, session: &Session) -> BTreeMap<String, usize> {
    let decisions = bench.executor.decisions(session);
    let mut seen = BTreeMap::new();
    for decision in decisions.iter() {
        let outcome = bench.executor.invoke(session, decision.proposal(arguments(decision).to_string())).await;
        // What is locked as well says so to whoever names it, and is shown to nobody who does not declare it.
        if decision.code() == Some(Code::Undeclared) && outcome.code() == Some(Code::Locked) {
            continue;
        }
        let Some(shown) = shown_by(&outcome) else { continue };
        assert_eq!(decision.admission_status, shown, "{} {outcome:?}", decision.tool_name);
        assert_eq!(
            decision.diagnostic(),
            outcome.diagnostic().filter(|_| shown != AdmissionStatus::Ready || decision.fallback_from.is_some()),
            "{}",
            decision.tool_name
        );
        if let Some(ran) = outcome.provider() {
            assert!(ran.is_of_the_same(decision), "{}", decision.tool_name);
            assert_eq!((ran.route, ran.class), (decision.route, decision.class));
        }
        *seen.entry(format!("{shown:?}")).or_default() += 1;
    }
    seen
}

#[tokio::test]
async fn what_is_shown_is_what_runs_in_every_state() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for opt_in in [OptIn::On, OptIn::Off, OptIn::Damaged] {
        for mode in [Some(Mode::Live), Some(Mode::Plan), Some(Mode::Dream), None] {
            let bench = bench();
            bench.bindings.unbind(HandleFamily::Secret);
            bench.switch.set(opt_in);
            let session = match mode {
                Some(mode) => bench.session(1, mode, 1),
                None => bench.declaring(&["lab.asks", "lab.act_read_local", "lab.scoped:docs", "mcp.call:docs"]),
            };
            for (status, count) in through_both_doors(&bench, &session).await {
                *seen.entry(status).or_default() += count;
            }
        }
    }
    for state in [
        AdmissionStatus::Ready,
        AdmissionStatus::Hidden,
        AdmissionStatus::PolicyBlocked,
        AdmissionStatus::MissingRuntimeBinding,
        AdmissionStatus::ProviderOffline,
    ] {
        assert!(seen.contains_key(&format!("{state:?}")), "{state:?} was seen: {seen:?}");
    }
}

/// The two states that nothing listed can have: there is no tool, or no provider, to have them.
#[tokio::test]
async fn what_nobody_owns_and_what_is_malformed_is_in_no_list() {
    let bench = bench();
    let decisions = bench.executor.decisions(&bench.session);
    for decision in decisions.iter() {
        assert!(
            !matches!(decision.admission_status, AdmissionStatus::Unsupported | AdmissionStatus::Malformed),
            "{}",
            decision.tool_name
        );
    }
    assert!(decisions.by_tool_name("lab-nowhere").is_none());
    // A provider says to carry it out, and nothing here owns it.
    let outcome = bench.invoke("lab.nowhere", &json!({})).await;
    assert_eq!(outcome.code(), Some(Code::UnsupportedCapability));
    assert_eq!(outcome.diagnostic(), Some(Diagnostic::UnsupportedCapability));
    let outcome = bench.invoke("relay.call", &json!({ "relay": "a", "tool": "b", "arguments": {} })).await;
    assert_eq!(outcome.code(), Some(Code::UnsupportedCapability));
    // Of another session's provider nothing is shown.
    assert!(decisions.provided(ProviderType::Mcp, "theirs", "find").is_none());
    let find = decisions.provided(ProviderType::Mcp, "docs", "find").expect("it is listed");
    let outcome = bench.executor.invoke(&bench.session, find.proposal("{\"q\":")).await;
    assert_eq!(outcome.diagnostic(), Some(Diagnostic::MalformedToolCall));
    // Nothing that is written in the place of arguments becomes part of the envelope.
    for sly in [r#"{"q":"a"},"tool":"changed""#, r#"{"q":"a"},"server":"gone""#, r#"{}} {"#, ""] {
        let outcome = bench.executor.invoke(&bench.session, find.proposal(sly)).await;
        assert_eq!(outcome.diagnostic(), Some(Diagnostic::MalformedToolCall), "{sly}");
    }
}

fn names(decisions: &Decisions) -> Vec<String> {
    decisions.iter().map(|decision| decision.tool_name.to_string()).collect()
}

#[tokio::test]
async fn the_order_is_the_catalogs_and_then_the_providers_whatever_order_they_came_in() {
    let bench = Bench::providing(GrantLimits::off());
    let tools = |id: &str| vec![tool(id, "b"), tool(id, "a"), tool(id, "c")];
    let mut states = vec![
        provider(ProviderType::Relay, "r", tools("r")),
        provider(ProviderType::Mcp, "z", tools("z")),
        provider(ProviderType::Edge, "e", tools("e")),
        provider(ProviderType::Mcp, "a", tools("a")),
    ];
    let mut orders = Vec::new();
    for _ in 0..4 {
        states.rotate_left(1);
        states.iter_mut().for_each(|state| state.tools.rotate_left(1));
        bench.supplied.set(states.clone());
        orders.push(names(&bench.executor.decisions(&bench.session)));
    }
    assert!(orders.iter().all(|order| *order == orders[0]));
    let own: Vec<_> = orders[0].iter().filter(|name| name.contains("--")).cloned().collect();
    assert_eq!(
        own,
        [
            "edge-e--a",
            "edge-e--b",
            "edge-e--c",
            "mcp-a--a",
            "mcp-a--b",
            "mcp-a--c",
            "mcp-z--a",
            "mcp-z--b",
            "mcp-z--c",
            "relay-r--a",
            "relay-r--b",
            "relay-r--c",
        ]
    );
    // Providers come and go behind the catalog, which stays as it is.
    let catalog = orders[0].len() - own.len();
    bench.supplied.set(vec![]);
    assert_eq!(names(&bench.executor.decisions(&bench.session)), orders[0][..catalog]);
    assert!(catalog > 0);
}

#[tokio::test]
async fn plan_mode_blocks_what_changes_and_keeps_what_reads_in_sight() {
    let bench = bench();
    let plan = bench.session(1, Mode::Plan, 1);
    let decisions = bench.executor.decisions(&plan);
    let status = |name: &str| {
        let decision = decisions.compiled(name, V1).expect("it is registered");
        (decision.admission_status, decision.is_visible())
    };
    assert_eq!(status("lab.act_read_local"), (AdmissionStatus::Ready, true));
    assert_eq!(status("lab.act_write_local"), (AdmissionStatus::PolicyBlocked, true));
    let find = decisions.provided(ProviderType::Mcp, "docs", "find").expect("it is listed");
    assert_eq!((find.code(), find.is_visible()), (Some(Code::PlanMode), true));
    assert!(find.user_visible_message.as_ref().is_some_and(|told| told.contains("plan mode")));
}

#[tokio::test]
async fn a_rule_about_what_a_call_names_blocks_no_tool_as_such() {
    let bench = bench();
    bench.rules(
        "[[rule]]\nid = \"not-docs\"\neffect = \"deny\"\ncapability = \"lab.scoped:docs\"\nreason = \"not these\"\n\
         [[rule]]\nid = \"no-tool\"\neffect = \"deny\"\ncapability = \"mcp.call:docs\"\ntarget = { text = \"find\" }\nreason = \"not this\"\n",
    );
    let decisions = bench.executor.decisions(&bench.session);
    assert_eq!(decisions.compiled("lab.scoped", V1).map(|own| own.admission_status), Some(AdmissionStatus::Ready));
    // Of a provider's tool everything is known that a rule asks for.
    let find = decisions.provided(ProviderType::Mcp, "docs", "find").expect("it is listed");
    assert_eq!(find.code(), Some(Code::RuleDeny));
    assert_eq!(bench.executor.invoke(&bench.session, find.proposal(r#"{"q":"a"}"#)).await.code(), Some(Code::RuleDeny));
}

/// A declaration without a scope is about no call of what always has one: what is listed and what a call is told agree.
#[tokio::test]
async fn what_no_call_is_declared_by_is_not_listed_either() {
    let bench = bench();
    let call = json!({ "server": "docs" });
    for (declared, code) in [
        ("lab.scoped", Some(Code::Undeclared)),
        ("tool.call:lab.scoped", Some(Code::Undeclared)),
        ("lab.asks", Some(Code::Undeclared)),
        ("lab.scoped:docs", None),
        ("lab.scoped:*", None),
    ] {
        let session = bench.declaring(&[declared]);
        let decisions = bench.executor.decisions(&session);
        let listed = decisions.compiled("lab.scoped", V1).expect("it is registered");
        assert_eq!((listed.code(), listed.is_visible()), (code, code.is_none()), "{declared}");
        let outcome = bench.executor.invoke(&session, proposal("lab.scoped", &call)).await;
        assert_eq!(outcome.code(), code, "{declared}: {outcome:?}");
    }
}

/// One decision with everything in it, as it is listed and as a call takes it.
#[tokio::test]
async fn a_decision_has_every_field_of_the_contract() {
    let bench = Bench::providing(GrantLimits::off());
    let degraded = ProviderReach::Degraded("its list could not be read");
    let carrying = |kind, id: &str, reach| ProviderState {
        reach,
        carries_out: vec!["lab.act_read_local".into()],
        ..provider(kind, id, vec![])
    };
    bench.supplied.put(|revision| {
        let states = vec![
            carrying(ProviderType::Edge, "desk", ProviderReach::Offline("it went away")),
            carrying(ProviderType::Relay, "cloud", degraded),
        ];
        ProviderSnapshot::new(revision, states)
            .with_fallback(FallbackRules::default().with("lab.act_read_local", FallbackPolicy::Approved))
    });
    let served = |of: &ProviderDecision| {
        json!({
            "capability": of.capability.as_str(), "tool_name": of.tool_name, "provider_type": of.provider_type,
            "provider_id": of.provider_id, "execution_owner": of.execution_owner, "route": of.route,
            "admission_status": of.admission_status, "runtime_binding_status": of.runtime_binding_status,
            "fallback_policy": of.fallback_policy, "fallback_from": of.fallback_from,
            "degraded_reason": of.degraded_reason, "offline_reason": of.offline_reason,
            "user_visible_message": of.user_visible_message, "trace_fields": of.trace_fields,
        })
    };
    // This host serves in the place of the machine that is gone.
    let wanted = json!({
        "capability": "lab.act_read_local", "tool_name": "lab-act_read_local", "provider_type": "compiled",
        "provider_id": "compiled", "execution_owner": "host", "route": "server_runtime", "admission_status": "ready",
        "runtime_binding_status": "bound", "fallback_policy": "approved", "fallback_from": "desk",
        "degraded_reason": "it went away", "offline_reason": null,
        "user_visible_message": "`desk` cannot carry it out (it went away), so this host served in its place",
        "trace_fields": [["provider", "fallback"]],
    });
    let listed = bench.executor.decisions(&bench.session);
    let own = listed.compiled("lab.act_read_local", V1).expect("it is registered");
    assert_eq!(served(own), wanted);
    let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await;
    assert_eq!(served(outcome.provider().expect("it was decided")), wanted);
    let told = serde_json::to_value(&outcome).expect("an outcome is JSON");
    assert_eq!(
        (&told["diagnostic"]["kind"], &told["trace"]),
        (&json!("fallback_selected"), &json!({ "provider": "fallback" }))
    );
    assert_eq!(told["notice"], wanted["user_visible_message"]);

    // Nothing stands in, and why is said to whoever is shown it, not only to whoever calls.
    bench.supplied.set(vec![carrying(ProviderType::Edge, "desk", ProviderReach::Offline("it went away"))]);
    let listed = bench.executor.decisions(&bench.session);
    let gone = listed.compiled("lab.act_read_local", V1).expect("it is registered");
    assert_eq!(
        (gone.admission_status, gone.fallback_policy, gone.offline_reason.as_deref(), gone.route),
        (AdmissionStatus::ProviderOffline, FallbackPolicy::Never, Some("it went away"), Route::EdgeBound)
    );
    let said = gone.user_visible_message.as_deref().expect("it is said");
    assert!(said.ends_with(": it went away"), "{said}");
    let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await;
    assert_eq!(outcome.message().as_deref(), Some(said));
}

/// Each way there is, by a call that takes it or finds that there is none.
#[tokio::test]
async fn every_route_is_one_of_the_list_and_each_is_taken() {
    let bench = Bench::providing(GrantLimits::off());
    let carrying =
        |kind, id: &str, what: &str| ProviderState { carries_out: vec![what.into()], ..provider(kind, id, vec![]) };
    bench.supplied.put(|revision| {
        let states = vec![
            provider(ProviderType::Mcp, "docs", vec![tool("docs", "find")]),
            ProviderState {
                whose: Whose::Session(bench.session.identity().id),
                ..provider(ProviderType::Mcp, "own", vec![tool("own", "find")])
            },
            carrying(ProviderType::Edge, "desk", "lab.asks_too"),
            carrying(ProviderType::Relay, "cloud", "lab.act_read_local"),
        ];
        let binding = ExplicitBinding {
            session: Some(bench.session.identity().id),
            capability: "lab.act_read_local".into(),
            kind: ProviderType::Relay,
            provider: "cloud".into(),
        };
        ProviderSnapshot::new(revision, states).with_bindings([binding])
    });
    let listed = bench.executor.decisions(&bench.session);
    let of = |name: &str| listed.compiled(name, V1).map(|own| own.route);
    assert_eq!(of("lab.notes"), Some(Route::ServerControlPlane));
    assert_eq!(of("lab.checked"), Some(Route::ServerRuntime));
    assert_eq!(of("lab.asks_too"), Some(Route::EdgeBound));
    assert_eq!(of("lab.act_read_local"), Some(Route::GatewayRelay));
    let of = |server: &str| listed.provided(ProviderType::Mcp, server, "find").map(|own| own.route);
    assert_eq!((of("docs"), of("own")), (Some(Route::ServerRuntime), Some(Route::RequestScopedMcp)));
    // A call goes the way that is listed.
    let asked = bench.invoke("mcp.call", &json!({ "server": "own", "tool": "find", "arguments": { "q": "a" } })).await;
    assert_eq!(asked.provider().map(|own| own.route), of("own"), "{asked:?}");
    let nowhere = self::bench().invoke("relay.call", &json!({ "relay": "a", "tool": "b", "arguments": {} })).await;
    let decided = nowhere.provider().expect("that there is none was decided");
    assert_eq!((decided.route, decided.admission_status), (Route::Unsupported, AdmissionStatus::Unsupported));
    assert_eq!(decided.runtime_binding_status, RuntimeBindingStatus::Missing);
}

/// Seven states and seven diagnostics, each seen at a call of its own and none taken for another.
#[tokio::test]
async fn the_seven_states_and_the_seven_diagnostics_are_told_apart() {
    let bench = bench();
    bench.supplied.put(|revision| {
        let gone = |id: &str, what: &str| ProviderState {
            reach: ProviderReach::Offline("it went away"),
            carries_out: vec![what.into()],
            ..provider(ProviderType::Edge, id, vec![])
        };
        let approved = FallbackRules::default().with("lab.act_read_local", FallbackPolicy::Approved);
        let states = vec![
            gone("desk", "lab.asks"),
            gone("lap", "lab.act_read_local"),
            provider(ProviderType::Mcp, "docs", vec![tool("docs", "find")]),
        ];
        ProviderSnapshot::new(revision, states).with_fallback(approved)
    });
    let ready = json!({ "behaviour": "answer" });
    let docs = |tool: &str, arguments: Value| json!({ "server": "docs", "tool": tool, "arguments": arguments });
    let narrow = bench.declaring(&["lab.checked"]);
    let mut diagnostics = Vec::new();
    let mut states = Vec::new();
    for (session, name, arguments, state, diagnostic) in [
        (&bench.session, "lab.checked", json!({ "from": 1, "to": 2 }), Some(AdmissionStatus::Ready), None),
        (&bench.session, "lab.act_read_local", ready, Some(AdmissionStatus::Ready), Some(Diagnostic::FallbackSelected)),
        (&bench.session, "lab.nobody", json!({}), Some(AdmissionStatus::Hidden), Some(Diagnostic::UnknownTool)),
        (
            &bench.session,
            "mcp.call",
            docs("lost", json!({})),
            Some(AdmissionStatus::Hidden),
            Some(Diagnostic::UnknownTool),
        ),
        (&narrow, "lab.who", json!({}), Some(AdmissionStatus::Hidden), Some(Diagnostic::PolicyBlocked)),
        (
            &bench.session,
            "lab.denies",
            json!({}),
            Some(AdmissionStatus::PolicyBlocked),
            Some(Diagnostic::PolicyBlocked),
        ),
        (
            &bench.session,
            "lab.needs_service",
            json!({}),
            Some(AdmissionStatus::MissingRuntimeBinding),
            Some(Diagnostic::MissingRuntimeBinding),
        ),
        (
            &bench.session,
            "lab.asks",
            json!({}),
            Some(AdmissionStatus::ProviderOffline),
            Some(Diagnostic::ProviderOffline),
        ),
        (
            &bench.session,
            "relay.call",
            json!({ "relay": "a", "tool": "b", "arguments": {} }),
            Some(AdmissionStatus::Unsupported),
            Some(Diagnostic::UnsupportedCapability),
        ),
        (
            &bench.session,
            "mcp.call",
            docs("find", json!({ "q": 7 })),
            Some(AdmissionStatus::Malformed),
            Some(Diagnostic::MalformedToolCall),
        ),
    ] {
        let outcome = bench.executor.invoke(session, proposal(name, &arguments)).await;
        let shown = match outcome.code() {
            None => outcome.provider().map_or(Some(AdmissionStatus::Ready), |own| Some(own.admission_status)),
            Some(code) => AdmissionStatus::of(code),
        };
        assert_eq!((shown, outcome.diagnostic()), (state, diagnostic), "{name} {outcome:?}");
        let told = serde_json::to_value(&outcome).expect("an outcome is JSON");
        assert_eq!(told["diagnostic"]["kind"].as_str(), diagnostic.map(Diagnostic::as_str), "{name}");
        diagnostics.extend(diagnostic);
        states.extend(shown);
    }
    diagnostics.sort_unstable();
    diagnostics.dedup();
    assert_eq!(diagnostics, Diagnostic::ALL);
    states.sort_unstable();
    states.dedup();
    assert_eq!(states.len(), 7, "{states:?}");
    // Each is a word and a sentence of its own, and the word leads back.
    let words: std::collections::BTreeSet<_> =
        Diagnostic::ALL.iter().map(|own| (own.as_str(), own.message())).collect();
    assert_eq!(words.len(), 7);
    assert!(Diagnostic::ALL.into_iter().all(|own| Diagnostic::named(own.as_str()) == Some(own)));
    // A fault of the host, or a question, is none of them and no state of a tool.
    for code in [
        Code::AuditUnavailable,
        Code::StoreUnavailable,
        Code::RunnerSaturated,
        Code::IsolationUnavailable,
        Code::FloorRequired,
    ] {
        assert_eq!((AdmissionStatus::of(code), Diagnostic::of(code)), (None, None), "{code}");
    }
    // What is not classified is not known to be safe to repeat beside another.
    let listed = bench.executor.decisions(&bench.session);
    assert!(listed.provided(ProviderType::Mcp, "docs", "find").expect("it is listed").is_serial());
}

/// What no call can get past its own schema is in nobody's sight, by the same decision that its calls end by.
#[tokio::test]
async fn what_cannot_be_called_for_its_own_schema_is_hidden() {
    let bench = bench();
    let listed = bench.executor.decisions(&bench.session);
    let faulty = listed.compiled("lab.faulty_schema", V1).expect("it is registered");
    assert_eq!((faulty.admission_status, faulty.code()), (AdmissionStatus::Hidden, Some(Code::SchemaFault)));
    assert!(listed.by_tool_name("lab-faulty_schema").is_none());
    assert_eq!(bench.invoke("lab.faulty_schema", &json!({ "text": "ab" })).await.code(), Some(Code::SchemaFault));
}

/// Both that a tool claims more than it is classified as and that the way to it is not as it should be are said.
#[tokio::test]
async fn of_two_reasons_to_be_told_both_are() {
    let bench = bench();
    let class = Class::new(SideEffect::ReadOnly, Network::Local);
    let mut claiming = definition("docs", "find");
    claiming.claims.destructive = Some(true);
    let digest = claiming.digest();
    let state = ProviderState {
        reach: ProviderReach::Degraded("its list could not be read"),
        ..provider(ProviderType::Mcp, "docs", vec![ProvidedTool::new(claiming).classified_as(&digest, class)])
    };
    bench.supplied.set(vec![state]);
    let listed = bench.executor.decisions(&bench.session);
    let find = listed.provided(ProviderType::Mcp, "docs", "find").expect("it is listed");
    for said in [&find.degraded_reason, &find.user_visible_message] {
        let said = said.as_deref().expect("it is said");
        assert!(said.contains("claims more effect") && said.ends_with("; its list could not be read"), "{said}");
    }
}

/// What a person's machine, a server or a relay would bring is not there, and asking for it finds nobody who owns it.
#[tokio::test]
async fn a_host_without_providers_shows_nothing_of_anybodys_machine() {
    let bench = Bench::providing(GrantLimits::off());
    let listed = bench.executor.decisions(&bench.session);
    assert!(listed.iter().len() > 10);
    for decision in listed.iter() {
        assert_eq!((decision.provider_type, &*decision.execution_owner), (ProviderType::Compiled, "host"));
        assert!(matches!(decision.route, Route::ServerRuntime | Route::ServerControlPlane), "{}", decision.tool_name);
    }
    for (name, kind) in [("edge.call", "edge"), ("mcp.call", "server"), ("relay.call", "relay")] {
        let call = json!({ kind: "desk", "tool": "shell", "arguments": {} });
        let outcome = bench.invoke(name, &call).await;
        assert_eq!(outcome.diagnostic(), Some(Diagnostic::UnsupportedCapability), "{name} {outcome:?}");
    }
    // With one, all of it is there, and it is the machine's.
    bench.supplied.set(vec![provider(ProviderType::Edge, "desk", vec![tool("desk", "shell")])]);
    let listed = bench.executor.decisions(&bench.session);
    let shell = listed.provided(ProviderType::Edge, "desk", "shell").expect("it is listed");
    assert_eq!((&*shell.execution_owner, shell.route), ("desk", Route::EdgeBound));
}

/// The self-model is told by the decision that a call would take: nobody can do what nobody is there to do.
#[tokio::test]
async fn what_somebody_can_do_follows_whoever_would_carry_it_out() {
    let bench = Bench::providing(GrantLimits::off());
    let ability = |name: &str| {
        let model = bench.executor.self_model(&bench.session);
        let own = model.capabilities.into_iter().find(|own| own.capability == name).expect("it is declared");
        (own.ability, own.ends.iter().map(|end| end.code).collect::<Vec<_>>())
    };
    let edge = |reach| ProviderState {
        reach,
        carries_out: vec!["lab.act_read_local".into()],
        ..provider(ProviderType::Edge, "desk", vec![])
    };
    bench.supplied.set(vec![edge(ProviderReach::Ready)]);
    assert_eq!(ability("lab.act_read_local").0, Ability::Can);
    assert_eq!(ability("mcp.call"), (Ability::Forbidden, vec![Code::UnsupportedCapability]));
    let docs = |reach| ProviderState { reach, ..provider(ProviderType::Mcp, "docs", vec![tool("docs", "find")]) };
    bench.supplied.set(vec![edge(ProviderReach::NotConnected), docs(ProviderReach::NotConnected)]);
    assert_eq!(ability("lab.act_read_local"), (Ability::Forbidden, vec![Code::ProviderOffline]));
    assert_eq!(ability("mcp.call"), (Ability::Forbidden, vec![Code::ProviderOffline]));
    bench.supplied.set(vec![docs(ProviderReach::Ready)]);
    assert_eq!(ability("lab.act_read_local").0, Ability::Can);
    assert_ne!(ability("mcp.call").0, Ability::Forbidden);
}

/// What a session is told of providers that are not ready, those among them of whose tools nobody knows anything: by its facts
/// and by every search. Of what it does not declare it is told nothing.
#[tokio::test]
async fn a_provider_of_whose_tools_nothing_is_known_is_told_and_not_absent() {
    let bench = Bench::providing(GrantLimits::off());
    let mcp = |id: &str, reach, tools| ProviderState { reach, ..provider(ProviderType::Mcp, id, tools) };
    bench.supplied.set(vec![
        mcp("here", ProviderReach::Ready, vec![tool("here", "find")]),
        mcp("cut", ProviderReach::Degraded("it has more tools than are taken"), vec![tool("cut", "find")]),
        mcp("locked", ProviderReach::Unread("its tools could not be listed"), vec![]),
        mcp("never", ProviderReach::NotConnected, vec![]),
        mcp("gone", ProviderReach::Offline("it did not answer in time"), vec![]),
        ProviderState {
            whose: Whose::Session(capability_core::session::SessionId::from_bytes([9; 16])),
            ..mcp("theirs", ProviderReach::NotConnected, vec![])
        },
    ]);
    let told = |session: &Session| {
        let surface = Surface::of_session(&bench.executor, session, &SurfaceOptions::default());
        let facts = serde_json::to_value(surface.facts()).expect("it is JSON");
        let SurfaceCall::Found(found) = surface.call("tool_search", br#"{"query":"github"}"#) else {
            panic!("a search is answered");
        };
        let found = serde_json::to_value(found).expect("it is JSON");
        assert_eq!(facts.get("providers"), found.get("unready"), "both doors say the same");
        facts["providers"].clone()
    };
    let row = |name: &str, state: &str, reason: &str, tools: usize| {
        let mut row = json!({ "kind": "mcp", "name": name, "state": state, "tools": tools });
        if !reason.is_empty() {
            row["reason"] = json!(reason);
        }
        row
    };
    let rows = [
        row("cut", "degraded", "it has more tools than are taken", 1),
        row("gone", "offline", "it did not answer in time", 0),
        row("locked", "degraded", "its tools could not be listed", 0),
        row("never", "not_connected", "", 0),
    ];
    assert_eq!(told(&bench.session), json!(rows));
    assert_eq!(told(&bench.session(1, Mode::Plan, 1)), json!(rows), "what is planned with is known as well");
    for declared in ["mcp.call:gone", "provider.call:gone", "tool.call:gone/find"] {
        assert_eq!(told(&bench.declaring(&[declared])), json!([rows[1]]), "{declared}");
    }
    assert_eq!(told(&bench.declaring(&["lab.asks"])), Value::Null);
    // What could not be read is not called, and nobody is asked about it.
    let call = json!({ "server": "locked", "tool": "find", "arguments": {} });
    let outcome = bench.invoke("mcp.call", &call).await;
    assert_eq!((outcome.code(), outcome.approval()), (Some(Code::ProviderOffline), None), "{outcome:?}");
    assert_eq!(
        outcome.provider().and_then(|decided| decided.offline_reason.as_deref()),
        Some("its tools could not be listed")
    );
}
