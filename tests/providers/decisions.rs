//! What is shown and what runs: one decision, held against one another through both doors.

use core::num::NonZeroU32;
use std::collections::BTreeMap;

use capability_core::approval::GrantLimits;
use capability_core::audit::OutcomeKind as Kind;
use capability_core::handle::{HandleFamily, ToolContent, ToolReply};
use capability_core::policy::OptIn;
use capability_core::provider::{
    AdmissionStatus, Decisions, Diagnostic, FallbackPolicy, FallbackRules, ProviderDecision, ProviderReach,
    ProviderSnapshot, ProviderState, ProviderType, RuntimeBindingStatus, Standing,
};
use capability_core::session::Mode;
use capability_core::surface::{Surface, SurfaceCall, SurfaceOptions};
use capability_core::{Code, Outcome, Session, Stage};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::providers::{provider, tool};

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
                session: Some(capability_core::session::SessionId::from_bytes([9; 16])),
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
        // What its arguments, or what stands behind it, make of a call is not the tool's state.
        _ if outcome.stage() == Stage::Validate => None,
        _ => outcome.code().map(AdmissionStatus::of),
    }
}

/// Calls everything that is listed, compares, and counts the states that were seen.
async fn through_both_doors(bench: &Bench, session: &Session) -> BTreeMap<String, usize> {
    let decisions = bench.executor.decisions(session);
    let mut seen = BTreeMap::new();
    for decision in decisions.iter() {
        let outcome = bench.executor.invoke(session, decision.proposal(arguments(decision).to_string())).await;
        // What is locked as well says so to whoever names it, and is shown to nobody who does not declare it.
        if decision.admission_status == AdmissionStatus::Hidden && outcome.code() == Some(Code::Locked) {
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

#[test]
fn a_decision_has_every_field_of_the_contract() {
    let bench = bench();
    let decisions = bench.executor.decisions(&bench.session);
    let gone = decisions.provided(ProviderType::Mcp, "gone", "find").expect("it is listed");
    assert_eq!(
        (gone.admission_status, gone.runtime_binding_status, gone.fallback_policy, gone.offline_reason.as_deref()),
        (AdmissionStatus::ProviderOffline, RuntimeBindingStatus::Bound, FallbackPolicy::Never, Some("it went away"))
    );
    let blocked = decisions.compiled("lab.order", V1).expect("it is registered");
    assert_eq!(
        (blocked.admission_status, blocked.fallback_policy, blocked.code()),
        (AdmissionStatus::PolicyBlocked, FallbackPolicy::Disabled, Some(Code::FallbackDisabled))
    );
    // Each of the seven ways is a word of its own.
    let words: std::collections::BTreeSet<_> =
        Diagnostic::ALL.iter().map(|own| (own.as_str(), own.message())).collect();
    assert_eq!(words.len(), 7);
    // What is not classified is not known to be safe to repeat beside another.
    assert!(decisions.provided(ProviderType::Mcp, "docs", "find").expect("it is listed").is_serial());
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
            session: Some(capability_core::session::SessionId::from_bytes([9; 16])),
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
