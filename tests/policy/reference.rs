//! Every combination of everything a verdict depends on.

use capability_core::contract::{Class, DefaultEffect, Network, SideEffect};
use std::sync::Arc;

use capability_core::policy::{Binding, OptIn, Policy, Question, Verdict, evaluate};
use capability_core::session::{Declarations, Mode, Origin, Subject};
use capability_core::{Capability, Code, Concern, Raise, RaisedTo, Registry, Timestamp};

/// Entries of every lock and default.
pub const ENTRIES: [&str; 5] = ["lab.act_read_local", "lab.asks", "lab.denies", "lab.locked", "lab.act_write_external"];

pub const MODES: [Mode; 4] = [Mode::Live, Mode::Plan, Mode::Dream, Mode::Replay];
pub const OPT_INS: [OptIn; 3] = [OptIn::On, OptIn::Off, OptIn::Damaged];

/// Whether whoever would carry it out can.
const BINDINGS: [Binding; 7] = [
    Binding::Bound,
    Binding::Missing,
    Binding::Offline,
    Binding::Quarantined,
    Binding::NotTaken,
    Binding::FallbackDisabled,
    Binding::SecretUnbound,
];

pub const RAISED: [Option<Raise>; 4] = [
    None,
    Some(Raise::ask(Concern::SensitivePath)),
    Some(Raise::ask_fresh(Concern::GuardHigh)),
    Some(Raise::deny(Concern::GuardBlock)),
];

/// A live model's question that nothing stands against, but its class.
pub fn question<'a>(
    capability: &'a Capability,
    policy: &'a Arc<Policy>,
    subject: &'a Subject,
    declarations: &'a Declarations,
) -> Question<'a> {
    Question {
        capability,
        class: capability.class(),
        subject,
        origin: Origin::Model,
        declarations,
        behind: &[],
        scope: None,
        target: None,
        acts_on: &[],
        secrets: &[],
        mode: Mode::Live,
        opt_in: OptIn::On,
        binding: Binding::Bound,
        raised: None,
        faulted: false,
        at: Timestamp::from_micros(0),
        policy,
    }
}

/// Calls `each` with every question there is.
pub fn every_question(mut each: impl FnMut(&Question<'_>)) -> usize {
    let registry = Registry::collect(&["capability-tests"]).expect("the fixtures are fit to start");
    let declarations = [Declarations::everything(), Declarations::only(Vec::new())];
    let (policy, subject) = (Arc::new(Policy::default()), Subject::local());
    let mut asked = 0;
    for name in ENTRIES {
        let capability = registry.resolve(name, 1).expect("a fixture").entry();
        for class in Class::ALL {
            for mode in MODES {
                for opt_in in OPT_INS {
                    for declarations in &declarations {
                        for (binding, faulted) in BINDINGS.into_iter().flat_map(|own| [(own, false), (own, true)]) {
                            for raised in RAISED {
                                let plain = question(capability, &policy, &subject, declarations);
                                each(&Question { class, mode, opt_in, binding, faulted, raised, ..plain });
                                asked += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    asked
}

/// What must come out, written down one reason after the other.
fn reference(question: &Question<'_>) -> (Verdict, Code) {
    let external = question.class.network == Network::External;
    let mutating = question.class.side_effect == SideEffect::Mutating;
    if question.capability.is_locked() {
        return (Verdict::Deny, Code::Locked);
    }
    if *question.declarations == Declarations::only(Vec::new()) {
        return (Verdict::Deny, Code::Undeclared);
    }
    if question.mode == Mode::Dream || question.mode == Mode::Replay {
        return (Verdict::Deny, Code::ModeRefused);
    }
    if question.mode == Mode::Plan && (external || mutating) {
        return (Verdict::Deny, Code::PlanMode);
    }
    if external && question.opt_in == OptIn::Off {
        return (Verdict::Deny, Code::OptInOff);
    }
    if external && question.opt_in == OptIn::Damaged {
        return (Verdict::Deny, Code::OptInDamaged);
    }
    match question.binding {
        Binding::Bound => {}
        Binding::Missing => return (Verdict::Deny, Code::MissingRuntimeBinding),
        Binding::Offline => return (Verdict::Deny, Code::ProviderOffline),
        Binding::Quarantined => return (Verdict::Deny, Code::ToolQuarantined),
        Binding::NotTaken => return (Verdict::Deny, Code::ToolNotTaken),
        Binding::FallbackDisabled => return (Verdict::Deny, Code::FallbackDisabled),
        Binding::SecretUnbound => return (Verdict::Deny, Code::SecretUnbound),
    }
    if question.capability.default_effect() == DefaultEffect::Deny {
        return (Verdict::Deny, Code::DefaultDeny);
    }
    let raised = question.raised.map(|raise| (raise.verdict, raise.code.code()));
    if let Some((RaisedTo::Deny, code)) = raised {
        return (Verdict::Deny, code);
    }
    if question.faulted {
        return (Verdict::Deny, Code::StoreUnavailable);
    }
    if external || mutating {
        return (Verdict::AskFresh, Code::FloorRequired);
    }
    if let Some((RaisedTo::AskFresh, code)) = raised {
        return (Verdict::AskFresh, code);
    }
    if question.capability.default_effect() == DefaultEffect::Ask {
        return (Verdict::Ask, Code::DefaultAsk);
    }
    if let Some((RaisedTo::Ask, code)) = raised {
        return (Verdict::Ask, code);
    }
    (Verdict::Allow, Code::Clear)
}

#[test]
fn every_combination_is_judged_as_the_reference_does() {
    let asked = every_question(|question| {
        let decision = evaluate(question);
        assert_eq!((decision.verdict(), decision.code()), reference(question), "{question:?}");
    });
    assert_eq!(asked, ENTRIES.len() * 4 * MODES.len() * OPT_INS.len() * 2 * BINDINGS.len() * 2 * RAISED.len());
}

/// The class that counts is the question's, not the entry's: a foreign tool's is classified elsewhere.
#[test]
fn the_class_of_the_question_decides_the_floor() {
    every_question(|question| {
        let floor = evaluate(question).contributions()[5];
        let expected = if question.class.confirmation().is_required() { Verdict::AskFresh } else { Verdict::Allow };
        assert_eq!(floor.verdict, expected);
    });
}

#[test]
fn a_scope_is_declared_exactly_or_for_all() {
    let registry = Registry::collect(&["capability-tests"]).expect("fit to start");
    let capability = registry.resolve("lab.scoped", 1).expect("a fixture").entry();
    let judge = |listed: &str, scope: Option<&str>| {
        let declarations = Declarations::only(vec![listed.parse().expect("a declaration")]);
        let (policy, subject) = (Arc::new(Policy::default()), Subject::local());
        evaluate(&Question { scope, ..question(capability, &policy, &subject, &declarations) }).code()
    };
    for (listed, scope, code) in [
        ("lab.scoped:docs", Some("docs"), Code::Clear),
        ("lab.scoped:docs", Some("doc"), Code::Undeclared),
        ("lab.scoped:docs", Some("docs/"), Code::Undeclared),
        ("lab.scoped:docs", Some("Docs"), Code::Undeclared),
        ("lab.scoped:docs", Some("*"), Code::Undeclared),
        ("lab.scoped:docs", None, Code::Undeclared),
        ("lab.scoped", Some("docs"), Code::Undeclared),
        ("lab.scoped:*", Some("anything"), Code::Clear),
        ("lab.asks", Some("docs"), Code::Undeclared),
    ] {
        assert_eq!(judge(listed, scope), code, "{listed} {scope:?}");
    }
}

/// The scope that is judged is the validated argument's.
#[tokio::test]
async fn the_executor_judges_the_scope_that_would_run() {
    use crate::fixtures::{Bench, bench::proposal};
    let bench = Bench::new();
    let session = bench.declaring(&["lab.scoped:docs"]);
    for (server, code) in [("docs", None), ("other", Some(Code::Undeclared)), ("docs ", Some(Code::Undeclared))] {
        let call = serde_json::json!({ "server": server });
        let outcome = bench.executor.invoke(&session, proposal("lab.scoped", &call)).await;
        assert_eq!(outcome.code(), code, "{server:?}");
    }
    assert_eq!(bench.world().ran(), 1);
}
