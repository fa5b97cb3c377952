//! The built-ins that this package ships, as they are shown.

use std::sync::Arc;

use capabilities as _;
use capability_core::approval::{DigestKey, GrantLimits};
use capability_core::audit::MemorySink;
use capability_core::contract::{Network, SideEffect};
use capability_core::executor::{InlineRunner, Limits, Parts, Setup};
use capability_core::session::{Declarations, Mode, Origin, SessionId, SessionIdentity, TurnId};
use capability_core::store::{MemoryApprovals, MemoryGrants, MemoryHistory, MemoryOptIns, MemoryTurns};
use capability_core::surface::{Profile, RESIDENT_BUDGET, Surface, SurfaceOptions};
use capability_core::{Environment, Executor, Registry, Timestamp};

use crate::fixtures::parts::Broken;
use crate::tools::all;

struct Still;

impl Environment for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(0)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(1);
    }
}

/// An executor over everything that is linked here, of which nothing runs.
fn executor() -> Executor {
    parts().executor
}

fn parts() -> Parts {
    Executor::build(Setup {
        registry: Registry::collect(&["capabilities", "capability-tests"]).unwrap(),
        runner: Arc::new(InlineRunner),
        broker: Arc::clone(&Broken::default().bindings) as _,
        sink: Arc::new(MemorySink::new()),
        approvals: Arc::new(MemoryApprovals::new()),
        turns: Arc::new(MemoryTurns::new()),
        opt_ins: Arc::new(MemoryOptIns::new()),
        grants: Arc::new(MemoryGrants::new()),
        grant_limits: GrantLimits::off(),
        history: Arc::new(MemoryHistory::new()),
        policy: Arc::new(capability_core::policy::MemoryPolicy::new()),
        providers: Arc::new(capability_core::provider::NoProviders),
        environment: Arc::new(Still),
        key: DigestKey::new([7; 32]),
        limits: Limits::default(),
    })
}

/// The surface of a host that links the built-ins alone.
fn shipped(executor: &Executor) -> Surface {
    let mut decisions = all(executor);
    decisions.retain(|decision| {
        let held = executor.registry().resolve(decision.capability.as_str(), decision.version.get());
        held.is_some_and(|held| held.entry().package() == "capabilities")
    });
    Surface::of(executor, &decisions, &SurfaceOptions::default())
}

#[test]
fn the_shipped_built_ins_fit_into_the_budget() {
    let executor = executor();
    let made = shipped(&executor);
    let tools: Vec<String> = made.shown().map(|tool| tool.name().to_string()).collect();
    println!("{} bytes: {}", made.bytes(), tools.join(" "));
    assert_eq!(made.left_out(), [], "every built-in that is marked `resident` fits beside the others");
    assert!(made.bytes() <= RESIDENT_BUDGET);
    // The primitives of a first request, and what finds everything else.
    let wanted =
        "fs-list fs-read fs-search self-introspect self-reflect subject-note system-health web-fetch web-search";
    assert_eq!(tools.join(" "), wanted);
    assert!(made.deferred().any(|tool| tool.name().as_str() == "fs-glob"), "what is special is found");
    assert_eq!(made.collisions(), []);
    // They fit as every provider of models takes them, too, and none of them is one that a provider would not take.
    for profile in Profile::ALL {
        let rendered = made.rendered(profile);
        println!("{profile}: {} bytes", rendered.array().len());
        assert!(rendered.tools.iter().all(|tool| tool.tool.is_some()), "{profile}");
    }
}

#[test]
fn one_tool_does_not_take_the_place_of_many() {
    let executor = executor();
    let made = shipped(&executor);
    let array: Vec<serde_json::Value> = serde_json::from_str(&made.array()).unwrap();
    for tool in &array {
        let bytes = tool.to_string().len();
        assert!(bytes <= 1_024, "{} takes {bytes} bytes", tool["name"]);
    }
}

/// What changes something is blocked there and stays where it is; what reads can be called as before.
#[test]
fn plan_mode_keeps_every_resident_tool_in_sight() {
    let Parts { executor, sessions, .. } = parts();
    let made = |mode| {
        let subject = "local".parse().unwrap();
        let id = SessionId::from_bytes([1; 16]);
        let identity = SessionIdentity { id, subject, mode, origin: Origin::Model, turn: TurnId(1) };
        let session = sessions.open(identity, Declarations::everything());
        Surface::of_session(&executor, &session, &SurfaceOptions::default())
    };
    let (live, plan) = (made(Mode::Live), made(Mode::Plan));
    assert_eq!(live.array(), plan.array());
    let (mut reads, mut changes) = (0, 0);
    for (before, now) in live.tools().iter().zip(plan.tools()) {
        assert_eq!(before.name(), now.name());
        let status = |tool: &capability_core::surface::Tool| (tool.decision().code(), tool.decision().admission_status);
        if now.class().side_effect == SideEffect::Mutating || now.class().network == Network::External {
            assert_ne!(now.decision().code(), None, "{}", now.name());
            changes += 1;
        } else {
            assert_eq!(status(before), status(now), "{}", now.name());
            reads += 1;
        }
    }
    assert!(reads > 5 && changes > 5, "{reads} {changes}");
}
