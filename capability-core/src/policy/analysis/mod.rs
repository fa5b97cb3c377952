//! Exact questions about rules, each answered for every call there can be.
//!
//! | question | answer |
//! |---|---|
//! | [`check`](fn@check) | rules that do nothing, and rules that disagree |
//! | [`explain`](fn@explain) | one call, with everything that had a say in it |
//! | [`matrix`](fn@matrix) | what every subject may, capability by capability |
//! | [`reach`](fn@reach) | whether a subject can ever do something, and without anybody being asked |
//! | [`compare`](fn@compare) | whether one policy lets through more than another |
//!
//! Subjects and capabilities are finite, windows repeat within a year, and patterns over targets are sets that can be computed
//! with. So calls fall into finitely many cells within which no rule sees a difference (`space`), each of them has a call
//! that stands for it, and that call is put to the very function that decides for the executor. An answer is a fact about
//! all calls, and what it rests on can be tried.
//!
//! Two limits are told and never hidden. A question that has more cells than can be looked at is [`NotDecided`]. And a call
//! that stands for a cell need not be one that a capability's own `check` or the format of its argument accepts: what is
//! said to be impossible is; what is said to be possible is as far as rules go.

mod automaton;
mod bits;
mod check;
mod compare;
mod explain;
mod moments;
mod possible;
mod space;
mod targets;
pub(crate) mod walk;

pub use automaton::NotDecided;
pub use check::{Finding, FindingKind, check};
pub use compare::{Comparison, Difference, MAX_DIFFERENCES, Relation, compare};
pub use explain::{Explanation, Said, Step, explain};
pub use moments::DAYS_AHEAD;
pub(crate) use possible::possible_in;
pub use possible::{Matrix, Possible, Reach, Row, Standing, matrix, possible, reach};

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{Binding, OptIn, Policy, Question, RuleId, RuleRef, SourceKind};
use crate::code::Code;
use crate::contract::{Capability, Class, Schemas};
use crate::executor::caught;
use crate::registry::Registered;
use crate::session::{Ancestor, Declarations, Mode, Origin, Subject};
use crate::time::Timestamp;

/// Every origin.
pub const ORIGINS: [Origin; 5] = [Origin::Terminal, Origin::Ui, Origin::Model, Origin::Schedule, Origin::Channel];

/// A capability that questions are about.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'e> {
    /// The registered entry.
    pub capability: &'e Capability,
    /// Whether a call may leave out the argument that names its target.
    pub target_optional: bool,
    /// Whether a call may leave out the argument that names its scope.
    pub scope_optional: bool,
}

impl Entry<'static> {
    /// An entry whose schema says which arguments a call may leave out. Where the schema cannot be had, it may leave out any.
    #[must_use]
    pub fn of(held: &Registered) -> Self {
        Self::with(held.entry(), |name| held.requires(name))
    }

    /// The same for an entry alone; its schema is made for this question and thrown away.
    #[must_use]
    pub fn alone(capability: &'static Capability) -> Self {
        Self::with(capability, |name| {
            // Schemas are made by code of the author's types.
            let schemas = caught(|| Schemas::of(capability));
            schemas.is_some_and(|schemas| schemas.is_ok_and(|schemas| schemas.requires(name)))
        })
    }

    fn with(capability: &'static Capability, requires: impl Fn(&str) -> bool) -> Self {
        let optional = |argument: Option<&str>| argument.is_none_or(|name| !requires(name));
        Self {
            capability,
            target_optional: optional(capability.target().argument),
            scope_optional: optional(capability.scope()),
        }
    }
}

/// Whoever a question is about, and what else stands for or against it.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// Who asks.
    pub subject: &'a Subject,
    /// What its manifest declares.
    pub declarations: &'a Declarations,
    /// In which mode.
    pub mode: Mode,
    /// Whoever it acts for, the nearest first.
    pub behind: &'a [Ancestor],
}

/// What a host adds to rules: the switches of external families, and what it serves.
pub trait Surroundings {
    /// The state of a family's switch.
    fn opt_in(&self, family: &str) -> OptIn;
    /// Whether every handle of an entry is served.
    fn binds(&self, entry: &Capability) -> bool;
    /// What stands against every call of an entry because of whoever would carry it out for that subject.
    fn provider_fault(&self, _: &Capability, _: &Subject) -> Option<Code> {
        None
    }
}

/// Everything switched on and bound: what rules alone let through.
#[derive(Debug, Clone, Copy, Default)]
pub struct Open;

impl Surroundings for Open {
    fn opt_in(&self, _: &str) -> OptIn {
        OptIn::On
    }

    fn binds(&self, _: &Capability) -> bool {
        true
    }
}

/// A call as policy sees it: one that stands for its cell, or one that somebody asks about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// Who asks.
    pub subject: Subject,
    /// For what.
    pub capability: String,
    /// In which version.
    pub version: NonZeroU32,
    /// With which scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// What brought the session.
    pub origin: Origin,
    /// What it acts on, as the argument would say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// When.
    pub at: Timestamp,
    /// As which class, where calls go through to a provider's tool; the entry's own where that is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
}

/// The longest text of a call that is shown whole, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// A text of a call, fit for one line: what cannot be seen is written as an escape, and what is long is cut.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(MAX_SHOWN_CHARS) {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    if text.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push_str(&format!("… ({} bytes)", text.len()));
    }
    if shown.is_empty() { "nothing".to_owned() } else { shown }
}

impl core::fmt::Display for Sketch {
    /// `kid asks web.fetch for https://other/ (model, 2026-08-09T12:00:00Z)`, fit for one line.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} asks {}", self.subject, self.capability)?;
        if let Some(scope) = &self.scope {
            write!(f, ":{}", shown(scope))?;
        }
        if let Some(target) = &self.target {
            write!(f, " for {}", shown(target))?;
        }
        write!(f, " ({}, {})", self.origin.as_str(), self.at)
    }
}

impl Sketch {
    /// The question that the executor would ask about such a call.
    #[must_use]
    pub fn question<'q>(
        &'q self,
        capability: &'q Capability,
        asker: &Asker<'q>,
        around: &dyn Surroundings,
        policy: &'q std::sync::Arc<Policy>,
    ) -> Question<'q> {
        Question {
            capability,
            class: self.class.unwrap_or_else(|| capability.class()),
            subject: &self.subject,
            origin: self.origin,
            declarations: asker.declarations,
            behind: asker.behind,
            scope: self.scope.as_deref(),
            target: self.target.as_deref().map(|text| (capability.target().kind, text)),
            acts_on: &[],
            secrets: &[],
            mode: asker.mode,
            opt_in: around.opt_in(capability.name().family()),
            binding: Binding::of_host(around.binds(capability)),
            // A look at arguments, of which a sketch has none: what it raises comes on top.
            raised: None,
            faulted: false,
            at: self.at,
            policy,
        }
    }
}

/// A rule as answers name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RuleName {
    /// Its id.
    pub id: RuleId,
    /// Where it comes from; ids are unique within one source.
    pub source: SourceKind,
    /// Why it is there, in the words of whoever wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl RuleName {
    /// The rule at a place of a policy.
    #[must_use]
    pub fn of(policy: &Policy, at: RuleRef) -> Option<Self> {
        let (source, rule) = policy.rule(at)?;
        let reason = rule.reason.as_ref().map(|reason| reason.as_str().to_owned());
        Some(Self { id: rule.id.clone(), source, reason })
    }
}

impl core::fmt::Display for RuleName {
    /// `` `id` ``, with its source where that is not the operator's.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.source {
            SourceKind::Operator => write!(f, "`{}`", self.id),
            SourceKind::Workspace | SourceKind::Package => write!(f, "`{}` ({})", self.id, self.source.as_str()),
        }
    }
}
