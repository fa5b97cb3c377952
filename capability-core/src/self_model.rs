//! What somebody can do here and now, what it takes, and what is out of reach and why.
//!
//! A [`SelfModel`] is told to whoever asks for capabilities, so that nothing need be tried to be known: not by a prompt that
//! somebody keeps up to date, but from the same registry, rules, switches and bindings by which a call is judged at that
//! moment. What a subject's manifest does not declare is not in it. What is declared and locked, denied, switched off or
//! unbound is, with the reason; and so is what nobody who would carry it out can now.
//!
//! It speaks of policy. A call that it says can be made may still find its turn's cap used up or its arguments refused, and
//! what it says asks (`ask`, not `ask_fresh`) may find its answer in a standing grant that an operator gave for that very call
//! or target.

use core::num::NonZeroU32;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::contract::{Capability, Network, SideEffect, TargetKind};
use crate::policy::analysis::walk::{Span, Walk};
use crate::policy::analysis::{Asker, Entry, Possible, RuleName, Sketch, Surroundings, possible_in};
use crate::policy::{Dimension, OptIn, Policy, Verdict};
use crate::registry::{Registered, Registry};
use crate::session::{Mode, Origin, Subject};
use crate::time::Timestamp;

/// What one capability is to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// Every call runs.
    Can,
    /// Every call waits for an answer.
    Asks,
    /// It depends on the call; the ends say on what.
    Depends,
    /// No call runs.
    Forbidden,
    /// Rules tell more cases apart than can be looked at.
    NotDecided,
}

impl Ability {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Can => "can",
            Self::Asks => "asks",
            Self::Depends => "depends",
            Self::Forbidden => "forbidden",
            Self::NotDecided => "not decided",
        }
    }

    fn of(ends: &[End]) -> Self {
        let all = |holds: fn(Verdict) -> bool| ends.iter().all(|end| holds(end.verdict));
        if ends.is_empty() {
            Self::NotDecided
        } else if all(|verdict| verdict == Verdict::Allow) {
            Self::Can
        } else if all(|verdict| verdict == Verdict::Deny) {
            Self::Forbidden
        } else if all(|verdict| matches!(verdict, Verdict::Ask | Verdict::AskFresh)) {
            Self::Asks
        } else {
            Self::Depends
        }
    }
}

/// One way in which policy ends a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// What it takes.
    pub verdict: Verdict,
    /// Why.
    pub code: Code,
    /// Why, in words.
    pub reason: String,
    /// What to do about it.
    pub help: String,
    /// The rules that say so, with the reasons of whoever wrote them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleName>,
    /// A call that ends so. Not told: it is made of what rules are about.
    #[serde(skip)]
    pub witness: Option<Sketch>,
}

impl End {
    fn of(verdict: Verdict, code: Code) -> Self {
        let (reason, help) = (code.message().to_owned(), code.help().to_owned());
        Self { verdict, code, reason, help, rules: Vec::new(), witness: None }
    }
}

impl From<Possible> for End {
    fn from(possible: Possible) -> Self {
        let Possible { verdict, code, rules, witness, .. } = possible;
        Self { rules, witness: Some(witness), ..Self::of(verdict, code) }
    }
}

/// The state of an external family's switch, as it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
    /// It cannot be read, and counts as off.
    Damaged,
}

impl From<OptIn> for Switch {
    fn from(state: OptIn) -> Self {
        match state {
            OptIn::On => Self::On,
            OptIn::Off => Self::Off,
            OptIn::Damaged => Self::Damaged,
        }
    }
}

/// One capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its dotted name.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// What it may change.
    pub side_effect: SideEffect,
    /// How far it reaches.
    pub network: Network,
    /// What it acts on.
    pub target: TargetKind,
    /// What it is to whoever asks.
    pub ability: Ability,
    /// Every way in which policy ends a call, the least strict first; none when that is not decided.
    pub ends: Vec<End>,
    /// What the end depends on, when there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Dimension>,
    /// The switch of its family, when it reaches outside the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opt_in: Option<Switch>,
    /// Whether the host serves every handle it needs.
    pub bound: bool,
    /// Whether it exists to be named only.
    pub locked: bool,
    /// How often in one turn.
    pub per_turn: u32,
}

/// What somebody can do, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfModel {
    /// Who.
    pub subject: Subject,
    /// In which mode.
    pub mode: Mode,
    /// From where.
    pub origin: Origin,
    /// The revision of the rules in force.
    pub policy: String,
    /// When.
    pub at: Timestamp,
    /// When the next window of a rule opens or closes: until then only rules, switches and bindings change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Every declared capability, by name and version.
    pub capabilities: Vec<Item>,
}

impl SelfModel {
    /// What `asker` can do from `origin` at `at`.
    #[must_use]
    pub fn of(
        registry: &Registry,
        policy: &Arc<Policy>,
        asker: &Asker<'_>,
        origin: Origin,
        around: &dyn Surroundings,
        at: Timestamp,
    ) -> Self {
        let mut walk = Walk::over(&[policy], Span::Now(at), true);
        let visible = registry.iter().filter(|held| is_declared(held.entry(), asker));
        let capabilities = visible.map(|held| item(&mut walk, held, policy, asker, origin, around)).collect();
        Self {
            subject: asker.subject.clone(),
            mode: asker.mode,
            origin,
            policy: policy.revision().to_string(),
            at,
            until: walk.next_change(),
            capabilities,
        }
    }

    /// What is otherwise than in an earlier one.
    #[must_use]
    pub fn change_since(&self, earlier: &Self) -> SelfModelChange {
        let same = |one: &Item, other: &Item| one.capability == other.capability && one.version == other.version;
        let find = |own: &Item, there: &'_ Self| there.capabilities.iter().find(|other| same(own, other)).cloned();
        let mut change = SelfModelChange {
            at: self.at,
            policy_before: earlier.policy.clone(),
            policy: self.policy.clone(),
            appeared: Vec::new(),
            vanished: Vec::new(),
            changed: Vec::new(),
        };
        for item in &self.capabilities {
            match find(item, earlier) {
                None => change.appeared.push(item.clone()),
                Some(before) if before.told() != item.told() => {
                    change.changed.push(Changed { before, after: item.clone() });
                }
                Some(_) => {}
            }
        }
        let gone = earlier.capabilities.iter().filter(|item| find(item, self).is_none());
        change.vanished = gone.map(|item| format!("{}@{}", item.capability, item.version)).collect();
        change
    }
}

impl Item {
    /// As it is told: without the calls that were tried for it.
    fn told(&self) -> Self {
        let mut told = self.clone();
        told.ends.iter_mut().for_each(|end| end.witness = None);
        told
    }
}

/// Whether the asker's manifest declares it at all, for some scope if it has one.
fn is_declared(entry: &Capability, asker: &Asker<'_>) -> bool {
    let name = entry.name().as_str();
    let declared = asker.declarations;
    declared.cover(name, None)
        || (entry.scope().is_some() && declared.scopes(name).next().is_some())
        || (entry.through().is_some() && declared.reaches_a_provider())
}

fn item(
    walk: &mut Walk<'_>,
    held: &Registered,
    policy: &Arc<Policy>,
    asker: &Asker<'_>,
    origin: Origin,
    around: &dyn Surroundings,
) -> Item {
    let (capability, entry) = (held.entry(), Entry::of(held));
    let mut depends_on = Vec::new();
    let ends = if asker.mode.is_refused_on_entry() {
        vec![End::of(Verdict::Deny, Code::ModeRefused)]
    } else if held.schemas().is_err() {
        vec![End::of(Verdict::Deny, Code::SchemaFault)]
    } else if let Some(code) = around.provider_fault(capability, asker.subject).filter(|_| !capability.is_locked()) {
        vec![End::of(Verdict::Deny, code)]
    } else {
        match possible_in(walk, policy, asker, &entry, &[origin], around) {
            Err(_) => Vec::new(),
            Ok(possible) => {
                if possible.len() > 1 {
                    depends_on = walk.looked_at(asker, &entry, &[origin]);
                }
                possible.into_iter().map(End::from).collect()
            }
        }
    };
    let class = capability.class();
    let external = class.network == Network::External;
    Item {
        capability: capability.name().as_str().to_owned(),
        version: capability.version(),
        side_effect: class.side_effect,
        network: class.network,
        target: capability.target().kind,
        ability: Ability::of(&ends),
        ends,
        depends_on,
        opt_in: external.then(|| around.opt_in(capability.name().family()).into()),
        bound: around.binds(capability),
        locked: capability.is_locked(),
        per_turn: capability.bounds().per_turn(),
    }
}

/// A capability that is something else than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// What it was.
    pub before: Item,
    /// What it is.
    pub after: Item,
}

/// The difference between two self-models of one asker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfModelChange {
    /// When the later one was true.
    pub at: Timestamp,
    /// The rules before.
    pub policy_before: String,
    /// The rules now.
    pub policy: String,
    /// What was not there before.
    pub appeared: Vec<Item>,
    /// What is there no longer, as `name@version`.
    pub vanished: Vec<String>,
    /// What is something else now.
    pub changed: Vec<Changed>,
}

impl SelfModelChange {
    /// Whether whoever asks can do the same as before. Other rules may have come into force nevertheless.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.appeared.is_empty() && self.vanished.is_empty() && self.changed.is_empty()
    }
}
