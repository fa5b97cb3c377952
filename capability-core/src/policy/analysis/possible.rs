//! What can come out for a subject and a capability.

use core::ops::ControlFlow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::automaton::NotDecided;
use super::walk::{Stop, Walk};
use super::{Asker, Entry, ORIGINS, RuleName, Sketch, Surroundings};
use crate::code::Code;
use crate::contract::CapabilityName;
use crate::policy::{Decision, Dimension, Policy, Verdict, evaluate};
use crate::session::{Origin, Subject};
use crate::time::Timestamp;

/// One thing that can come out, with why and with a call for which it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Possible {
    /// What it takes.
    pub verdict: Verdict,
    /// The first reason; [`Code::Clear`] for what is allowed.
    pub code: Code,
    /// Every rule that gives it for some call.
    pub rules: Vec<RuleName>,
    /// From where.
    pub origins: Vec<Origin>,
    /// A call for which it comes out.
    pub witness: Sketch,
}

/// Everything that can come out for one asker and one capability, the least strict first, from these origins.
///
/// # Errors
/// [`NotDecided`] when there are more cases than can be looked at.
pub fn possible(
    policy: &Arc<Policy>,
    asker: &Asker<'_>,
    entry: &Entry<'_>,
    origins: &[Origin],
    around: &dyn Surroundings,
    from: Timestamp,
) -> Result<Vec<Possible>, NotDecided> {
    possible_in(&mut Walk::over(&[policy], from, true), policy, asker, entry, origins, around)
}

pub(super) fn possible_in(
    walk: &mut Walk<'_>,
    policy: &Arc<Policy>,
    asker: &Asker<'_>,
    entry: &Entry<'_>,
    origins: &[Origin],
    around: &dyn Surroundings,
) -> Result<Vec<Possible>, NotDecided> {
    let mut found: BTreeMap<(Verdict, Code), (Possible, BTreeSet<RuleName>, BTreeSet<Origin>)> = BTreeMap::new();
    let visited = walk.each(asker, entry, origins, |stop| {
        let Stop { sketch, origins } = stop;
        let decision = evaluate(&sketch.question(entry.capability, asker, around, policy));
        let (verdict, code) = (decision.verdict(), decision.code());
        let (_, rules, from) = found.entry((verdict, code)).or_insert_with(|| {
            let possible = Possible { verdict, code, rules: Vec::new(), origins: Vec::new(), witness: sketch.clone() };
            (possible, BTreeSet::new(), BTreeSet::new())
        });
        rules.extend(named(policy, &decision));
        from.extend(origins.iter().copied());
        ControlFlow::<()>::Continue(())
    })?;
    let ControlFlow::Continue(()) = visited else { return Err(NotDecided) };
    let whole = |(possible, rules, origins): (Possible, BTreeSet<RuleName>, BTreeSet<Origin>)| Possible {
        rules: rules.into_iter().collect(),
        origins: origins.into_iter().collect(),
        ..possible
    };
    Ok(found.into_values().map(whole).collect())
}

/// The rules whose word is the verdict.
pub(super) fn named(policy: &Policy, decision: &Decision) -> Vec<RuleName> {
    decision.deciding_rules().filter_map(|at| RuleName::of(policy, at)).collect()
}

/// What one capability is to one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The capability.
    pub capability: CapabilityName,
    /// Its version.
    pub version: core::num::NonZeroU32,
    /// Everything that can come out, the least strict first; absent when it is not decided.
    pub possible: Option<Vec<Possible>>,
    /// What it depends on, when more than one thing can come out.
    pub depends_on: Vec<Dimension>,
}

impl Standing {
    /// The verdict, when only one can come out.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        match self.possible.as_deref()? {
            [first, rest @ ..] => rest.iter().all(|other| other.verdict == first.verdict).then_some(first.verdict),
            [] => None,
        }
    }
}

/// What every capability is to one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The subject.
    pub subject: Subject,
    /// Capability by capability.
    pub standings: Vec<Standing>,
}

/// What every subject may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Matrix {
    /// Subject by subject.
    pub rows: Vec<Row>,
}

/// What every one of `askers` may, over the year from `from` on.
#[must_use]
pub fn matrix(
    policy: &Arc<Policy>,
    askers: &[Asker<'_>],
    entries: &[Entry<'_>],
    around: &dyn Surroundings,
    from: Timestamp,
) -> Matrix {
    let mut walk = Walk::over(&[policy], from, true);
    let mut row = |asker: &Asker<'_>| Row {
        subject: asker.subject.clone(),
        standings: entries
            .iter()
            .map(|entry| {
                let possible = possible_in(&mut walk, policy, asker, entry, &ORIGINS, around).ok();
                let depends_on = if possible.as_ref().is_some_and(|several| varies(several)) {
                    walk.looked_at(asker, entry, &ORIGINS)
                } else {
                    Vec::new()
                };
                let (capability, version) = (entry.capability.name(), entry.capability.version());
                Standing { capability, version, possible, depends_on }
            })
            .collect(),
    };
    Matrix { rows: askers.iter().map(&mut row).collect() }
}

pub(super) fn varies(possible: &[Possible]) -> bool {
    possible.windows(2).any(|pair| matches!(pair, [one, other] if one.verdict != other.verdict))
}

/// Whether something can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// By no call at any time within the year that was looked at.
    Never {
        /// Everything that stands against it, for some call.
        because: Vec<Possible>,
    },
    /// By this call.
    Yes {
        /// It, with what it takes.
        first: Possible,
    },
    /// There are more cases than can be looked at.
    NotDecided,
}

/// Whether a subject can ever do something; with `unasked`, without anybody being asked.
///
/// Standing grants are no part of it: they are answers to questions.
#[must_use]
pub fn reach(
    policy: &Arc<Policy>,
    asker: &Asker<'_>,
    entry: &Entry<'_>,
    unasked: bool,
    around: &dyn Surroundings,
    from: Timestamp,
) -> Reach {
    let Ok(possible) = possible(policy, asker, entry, &ORIGINS, around, from) else { return Reach::NotDecided };
    let most = if unasked { Verdict::Allow } else { Verdict::AskFresh };
    match possible.iter().find(|possible| possible.verdict <= most) {
        Some(first) => Reach::Yes { first: first.clone() },
        None => Reach::Never { because: possible },
    }
}
