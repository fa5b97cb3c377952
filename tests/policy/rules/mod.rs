//! Rules: what they match, which of them count, and what the log and the caller learn of it.

mod cases;
mod executor;
mod inclusion;
mod laws;
mod naive;
mod random;
mod standing;

use std::sync::Arc;

use capability_core::policy::{Decision, Policy, Question, RuleRef, evaluate};
use capability_core::session::{Declarations, Origin, Subject};
use capability_core::{Capability, Registry, Timestamp, capability};

use crate::reference::question;

/// Looks at an address.
#[capability(name = "home.fetch", version = 1, side_effect = read_only, network = local, target = url(url))]
fn fetch(url: String) -> String {
    url
}

/// Looks at a file.
#[capability(name = "home.read", version = 1, side_effect = read_only, network = local, target = path(path))]
fn read(path: String) -> String {
    path
}

/// Changes a file.
#[capability(name = "home.edit", version = 1, side_effect = mutating, network = local, target = path(path))]
fn edit(path: String) -> String {
    path
}

/// Runs nothing, but is asked to.
#[capability(name = "home.run", version = 1, side_effect = read_only, network = local, target = argv(argv))]
fn run(argv: Vec<String>) -> Vec<String> {
    argv
}

/// Says something to a server.
#[capability(name = "home.call", version = 1, side_effect = read_only, network = local, target = text(text), scope = server)]
fn call(server: String, text: String) -> String {
    format!("{server}: {text}")
}

/// Acts on nothing in particular.
#[capability(name = "home.plain", version = 1, side_effect = read_only, network = local)]
fn plain() -> u8 {
    0
}

/// Asks by default.
#[capability(name = "home.asks", version = 1, side_effect = read_only, network = local, default = ask, target = path(path))]
fn asks(path: String) -> String {
    path
}

/// Denies by default.
#[capability(name = "home.denies", version = 1, side_effect = read_only, network = local, default = deny, target = path(path))]
fn denies(path: String) -> String {
    path
}

/// Is below another roof.
#[capability(name = "house.read", version = 1, side_effect = read_only, network = local, target = path(path))]
fn house_read(path: String) -> String {
    path
}

pub fn operator(text: &str) -> Arc<Policy> {
    Arc::new(crate::fixtures::rules::operator(text))
}

/// A call, as rules see it.
#[derive(Debug, Clone)]
pub struct Asked {
    pub name: &'static str,
    pub subject: Subject,
    pub origin: Origin,
    pub scope: Option<&'static str>,
    pub target: Option<String>,
    pub at: Timestamp,
}

/// A Monday, noon in Berlin.
pub const NOON: &str = "2026-11-30T11:00:00Z";

impl Asked {
    pub fn of(name: &'static str) -> Self {
        let at = NOON.parse().expect("a time");
        Self { name, subject: Subject::local(), origin: Origin::Model, scope: None, target: None, at }
    }

    pub fn on(self, target: impl Into<String>) -> Self {
        Self { target: Some(target.into()), ..self }
    }

    pub fn by(self, subject: &str) -> Self {
        Self { subject: subject.parse().expect("a subject"), ..self }
    }

    pub fn from(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    pub fn to(self, scope: &'static str) -> Self {
        Self { scope: Some(scope), ..self }
    }

    pub fn at(self, at: &str) -> Self {
        Self { at: at.parse().expect("a time"), ..self }
    }

    pub fn judged_by(&self, policy: &Arc<Policy>) -> Decision {
        with_question(self, policy, evaluate)
    }
}

/// The registered entries, collected once.
pub fn registry() -> &'static Registry {
    static REGISTRY: std::sync::OnceLock<Registry> = std::sync::OnceLock::new();
    REGISTRY.get_or_init(|| Registry::collect(&["capability-tests"]).expect("the fixtures are fit to start"))
}

pub fn entry(name: &str) -> &'static Capability {
    registry().resolve(name, 1).unwrap_or_else(|| panic!("no fixture `{name}`")).entry()
}

pub fn with_question<T>(asked: &Asked, policy: &Arc<Policy>, answer: impl FnOnce(&Question<'_>) -> T) -> T {
    let (capability, declarations) = (entry(asked.name), Declarations::everything());
    answer(&Question {
        origin: asked.origin,
        scope: asked.scope,
        target: asked.target.as_deref().map(|text| (capability.target().kind, text)),
        at: asked.at,
        ..question(capability, policy, &asked.subject, &declarations)
    })
}

/// The ids of rules of a policy.
pub fn ids(policy: &Policy, rules: impl IntoIterator<Item = RuleRef>) -> Vec<String> {
    rules.into_iter().filter_map(|at| Some(policy.rule(at)?.1.id.to_string())).collect()
}
