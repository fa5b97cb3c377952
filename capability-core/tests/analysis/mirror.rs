//! What somebody is told to be able to do, against what the executor then does.

use std::collections::BTreeSet;
use std::sync::Arc;

use capability_core::approval::{DigestKey, GrantLimits};
use capability_core::audit::{MemorySink, OutcomeKind};
use capability_core::contract::{Class, TargetKind};
use capability_core::executor::{InlineRunner, Limits, Parts, Setup};
use capability_core::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, HandleKind, Lease};
use capability_core::policy::analysis::{Asker, Entry, Sketch};
use capability_core::policy::{MemoryPolicy, Policy, Verdict, evaluate};
use capability_core::self_model::{Ability, SelfModel};
use capability_core::session::{Declarations, Mode, Origin, Session, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::store::{MemoryApprovals, MemoryGrants, MemoryHistory, MemoryOptIns, MemoryTurns};
use capability_core::{BoxFuture, Capability, Code, Environment, Executor, Proposal, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::{SUBJECTS, entries, every_call, from, policy, registry, rules, zones};

/// The hour at which everything here happens.
struct Noon;

impl Environment for Noon {
    fn now(&self) -> Timestamp {
        from()
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// A host that lends nothing.
struct Nothing;

impl Broker for Nothing {
    fn serves(&self, _: HandleKind, _: Class) -> bool {
        false
    }
    fn serve(&self, _: &Lease, _: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        Box::pin(core::future::ready(Err(BrokerFault::Unserved)))
    }
}

struct House {
    parts: Parts,
    opt_ins: Arc<MemoryOptIns>,
    policy: Arc<MemoryPolicy>,
}

impl House {
    fn new() -> Self {
        let (opt_ins, policy) = (Arc::new(MemoryOptIns::new()), Arc::new(MemoryPolicy::new()));
        let parts = Executor::build(Setup {
            registry: registry(),
            runner: Arc::new(InlineRunner),
            broker: Arc::new(Nothing),
            sink: Arc::new(MemorySink::new()),
            approvals: Arc::new(MemoryApprovals::new()),
            turns: Arc::new(MemoryTurns::new()),
            opt_ins: Arc::clone(&opt_ins) as _,
            grants: Arc::new(MemoryGrants::new()),
            grant_limits: GrantLimits::off(),
            history: Arc::new(MemoryHistory::new()),
            policy: Arc::clone(&policy) as _,
            providers: Arc::new(capability_core::provider::NoProviders),
            environment: Arc::new(Noon),
            key: DigestKey::new([7; 32]),
            limits: Limits::default(),
        });
        Self { parts, opt_ins, policy }
    }

    fn session(&self, subject: &Subject, mode: Mode, origin: Origin, turn: u64, declared: &Declarations) -> Session {
        let id = SessionId::from_bytes([1; 16]);
        let identity = SessionIdentity { id, subject: subject.clone(), mode, origin, turn: TurnId(turn) };
        self.parts.sessions.open(identity, declared.clone())
    }
}

/// The arguments that such a call would have.
fn arguments(capability: &Capability, call: &Sketch) -> String {
    let mut arguments = json!({});
    if let (Some(name), Some(scope)) = (capability.scope(), &call.scope) {
        arguments[name] = scope.as_str().into();
    }
    if let (Some(name), Some(text)) = (capability.target().argument, &call.target) {
        let words = capability.target().kind == TargetKind::Argv;
        arguments[name] = if words { serde_json::from_str(text).unwrap() } else { Value::from(text.as_str()) };
    }
    arguments.to_string()
}

/// Whether a capability's own arguments can say that at all.
fn can_be_said(entry: &Entry<'_>, call: &Sketch) -> bool {
    entry.capability.scope().is_none() || call.scope.is_some()
}

fn ends(model: &SelfModel, capability: &Capability) -> Option<BTreeSet<(Verdict, Code)>> {
    let item = model.capabilities.iter().find(|item| item.capability == capability.name().as_str())?;
    Some(item.ends.iter().map(|end| (end.verdict, end.code)).collect())
}

/// Walks one session: everything it is told, tried.
async fn walk(house: &House, subject: &Subject, mode: Mode, declared: &Declarations, tried: &mut u64) {
    let executor = &house.parts.executor;
    let (registry, origin) = (registry(), Origin::Model);
    let model = executor.self_model(&house.session(subject, mode, origin, 0, declared));
    for entry in entries(&registry) {
        let capability = entry.capability;
        let Some(told) = ends(&model, capability) else {
            assert!(!declared.cover(capability.name().as_str(), None), "{capability} is declared and not told");
            continue;
        };
        let item = model.capabilities.iter().find(|item| item.capability == capability.name().as_str()).unwrap();
        for end in &item.ends {
            let Some(call) = &end.witness else {
                assert_eq!(end.code, Code::ModeRefused);
                continue;
            };
            *tried += 1;
            let session = house.session(subject, mode, origin, *tried, declared);
            let proposal = Proposal::new(&call.capability, call.version.get(), arguments(capability, call));
            let outcome = executor.invoke(&session, proposal).await;
            let expected = match end.verdict {
                Verdict::Allow => (OutcomeKind::Executed, None),
                Verdict::Ask | Verdict::AskFresh => (OutcomeKind::Pending, None),
                Verdict::Deny => (OutcomeKind::Rejected, Some(end.code)),
            };
            assert_eq!((outcome.kind(), outcome.code()), expected, "{call} as {mode:?}: {:?}", outcome.message());
        }
        // And every other call ends in one of the ways that are told.
        let in_force = executor.policy();
        let asker = Asker { subject, declarations: declared, mode, behind: &[] };
        let now = |call: &Sketch| call.origin == origin && call.at == from() && can_be_said(&entry, call);
        for call in every_call(subject, &entry).iter().filter(|call| now(call)) {
            let decision = evaluate(&call.question(capability, &asker, executor, &in_force));
            let end = if mode.is_refused_on_entry() {
                (Verdict::Deny, Code::ModeRefused)
            } else {
                (decision.verdict(), decision.code())
            };
            assert!(told.contains(&end), "{call} as {mode:?} ends as {end:?}, told were {told:?}");
        }
    }
}

fn some_declared() -> Declarations {
    let names = ["desk.page", "desk.read", "desk.call:a", "desk.sealed", "desk.note", "desk.fetch"];
    Declarations::only(names.iter().map(|name| name.parse().unwrap()).collect())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 8, ..ProptestConfig::default() })]

    /// Every subject, mode and capability, under rules of every kind.
    #[test]
    fn what_is_told_is_what_happens(written in rules(6), on in any::<bool>()) {
        let runtime = runtime();
        let mut tried = 0;
        for name in SUBJECTS {
            let subject: Subject = name.parse().unwrap();
            let declared = if name == "agent" { some_declared() } else { Declarations::everything() };
            for mode in [Mode::Live, Mode::Plan, Mode::Dream, Mode::Replay] {
                let house = House::new();
                let source = policy(vec![(capability_core::policy::SourceKind::Operator, written.clone())]);
                house.policy.set(Arc::into_inner(source).unwrap());
                house.opt_ins.set("desk", on);
                runtime.block_on(walk(&house, &subject, mode, &declared, &mut tried));
            }
        }
        prop_assert!(tried > 20);
    }
}

#[test]
fn what_is_not_declared_is_not_named_and_what_is_out_of_reach_is_with_its_reason() {
    let house = House::new();
    let agent: Subject = "agent".parse().unwrap();
    let model = house.parts.executor.self_model(&house.session(&agent, Mode::Live, Origin::Model, 1, &some_declared()));
    let told: Vec<_> = model
        .capabilities
        .iter()
        .map(|item| (item.capability.as_str(), item.ability, item.ends.last().unwrap().code.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("desk.call", Ability::Depends, "undeclared"),
            ("desk.fetch", Ability::Forbidden, "opt_in_off"),
            ("desk.note", Ability::Forbidden, "missing_runtime_binding"),
            ("desk.page", Ability::Can, "clear"),
            ("desk.read", Ability::Can, "clear"),
            ("desk.sealed", Ability::Forbidden, "locked"),
        ]
    );
    let text = serde_json::to_string(&model).unwrap();
    assert!(!text.contains("desk.say") && !text.contains("witness"), "{text}");
    assert_eq!(serde_json::from_str::<SelfModel>(&text).unwrap().capabilities.len(), 6);
}

#[test]
fn a_change_of_rules_switches_and_manifests_is_a_difference() {
    let house = House::new();
    let agent: Subject = "agent".parse().unwrap();
    let told = |declared: &Declarations| {
        house.parts.executor.self_model(&house.session(&agent, Mode::Live, Origin::Model, 1, declared))
    };
    let before = told(&some_declared());
    assert!(told(&some_declared()).change_since(&before).is_empty());

    house.opt_ins.set("desk", true);
    let switched = told(&some_declared());
    let change = switched.change_since(&before);
    assert_eq!(change.changed.len(), 1);
    assert_eq!(
        (change.changed[0].before.ability, change.changed[0].after.ability),
        (Ability::Forbidden, Ability::Asks)
    );

    let rule = json!({ "id": "not-at-noon", "effect": "deny", "reason": "lunch", "capability": "desk.page",
        "when": { "from": "12:00", "to": "13:00", "tz": "Europe/Berlin" } });
    let source = capability_core::policy::Source::new(
        capability_core::policy::SourceKind::Operator,
        b"one rule",
        vec![serde_json::from_value(rule).unwrap()],
    );
    house.policy.set(Policy::compile(vec![source], &zones).unwrap());
    let ruled = told(&some_declared());
    assert_eq!(ruled.until.unwrap().to_string(), "2026-07-01T11:00:00Z", "when the window closes");
    let change = ruled.change_since(&switched);
    let end = &change.changed[0].after.ends[0];
    assert_eq!((change.changed.len(), end.code), (1, Code::RuleDeny));
    assert_eq!((end.rules[0].id.as_str(), end.rules[0].reason.as_deref()), ("not-at-noon", Some("lunch")));
    assert_ne!(change.policy, change.policy_before);

    let fewer = Declarations::only(vec!["desk.page".parse().unwrap(), "desk.run".parse().unwrap()]);
    let change = told(&fewer).change_since(&ruled);
    assert_eq!(change.appeared.iter().map(|item| item.capability.as_str()).collect::<Vec<_>>(), ["desk.run"]);
    assert_eq!(change.vanished.len(), 5);
}
