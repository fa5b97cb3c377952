//! What can come out for a subject and a capability.

use core::ops::ControlFlow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::automaton::NotDecided;
use super::walk::{Span, Stop, Walk};
use super::{Asker, Entry, ORIGINS, RuleName, Sketch, Surroundings, shown};
use crate::code::Code;
use crate::policy::{Decision, Dimension, Policy, Verdict, evaluate};
use crate::session::{Origin, SlotPath, Subject};
use crate::time::Timestamp;

/// One thing that can come out, with why and with a call for which it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    possible_in(&mut Walk::over(&[policy], Span::YearFrom(from), true), policy, asker, entry, origins, around)
}

/// What is known of one thing that can come out, while cells are visited.
type Gathered = (Possible, BTreeSet<RuleName>, BTreeSet<Origin>);

pub(crate) fn possible_in(
    walk: &mut Walk<'_>,
    policy: &Arc<Policy>,
    asker: &Asker<'_>,
    entry: &Entry<'_>,
    origins: &[Origin],
    around: &dyn Surroundings,
) -> Result<Vec<Possible>, NotDecided> {
    let mut found: BTreeMap<(Verdict, Code), Gathered> = BTreeMap::new();
    let visited = walk.each(asker, entry, origins, |stop| {
        let Stop { sketch, origins } = stop;
        let decision = evaluate(&sketch.question(entry.capability, asker, around, policy));
        let (verdict, code) = (decision.verdict(), decision.code());
        let (_, rules, from) = found.entry((verdict, code)).or_insert_with(|| {
            let possible = Possible { verdict, code, rules: Vec::new(), origins: Vec::new(), witness: sketch.clone() };
            (possible, BTreeSet::new(), BTreeSet::new())
        });
        if is_by_rules(code) {
            rules.extend(named(policy, &decision));
        }
        from.extend(origins.iter().copied());
        ControlFlow::<()>::Continue(())
    })?;
    let ControlFlow::Continue(()) = visited else { return Err(NotDecided) };
    let whole = |(possible, rules, origins): Gathered| Possible {
        rules: rules.into_iter().collect(),
        origins: origins.into_iter().collect(),
        ..possible
    };
    Ok(found.into_values().map(whole).collect())
}

/// Whether it is rules that give this reason, and nothing that stands beside them.
const fn is_by_rules(code: Code) -> bool {
    matches!(code, Code::Clear | Code::RuleAsk | Code::RuleAskFresh | Code::RuleDeny)
}

/// The rules whose word is the verdict.
pub(super) fn named(policy: &Policy, decision: &Decision) -> Vec<RuleName> {
    decision.deciding_rules().filter_map(|at| RuleName::of(policy, at)).collect()
}

/// What one capability is to one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The capability.
    pub capability: String,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The subject.
    pub subject: Subject,
    /// The slot of its agent; none for what it may outside every slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotPath>,
    /// Why nothing is said about it: its manifest is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Capability by capability.
    pub standings: Vec<Standing>,
}

/// What every subject may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    let mut walk = Walk::over(&[policy], Span::YearFrom(from), true);
    let mut row = |asker: &Asker<'_>| Row {
        subject: asker.subject.clone(),
        slot: None,
        fault: None,
        standings: entries
            .iter()
            .map(|entry| {
                let possible = possible_in(&mut walk, policy, asker, entry, &ORIGINS, around).ok();
                let depends_on = if possible.as_ref().is_some_and(|several| varies(several)) {
                    walk.looked_at(asker, entry, &ORIGINS)
                } else {
                    Vec::new()
                };
                let (capability, version) = (entry.capability.name().as_str().to_owned(), entry.capability.version());
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

impl core::fmt::Display for Matrix {
    /// Subject by subject, one line for each thing that can come out, on 80 columns: the verdict where it is the only one,
    /// else each with a call for which it comes out.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for (number, row) in self.rows.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            match &row.slot {
                None => writeln!(f, "{}", row.subject)?,
                Some(slot) => writeln!(f, "{}/{slot}", row.subject)?,
            }
            if let Some(fault) = &row.fault {
                writeln!(f, "  nothing runs: {fault}")?;
            }
            row.standings.iter().try_for_each(|standing| told(f, standing))?;
        }
        let unreadable = |possible: &Possible| possible.code == Code::TargetUnjudged;
        let mut possible =
            self.rows.iter().flat_map(|row| &row.standings).flat_map(|one| one.possible.iter().flatten());
        if possible.any(unreadable) {
            writeln!(f, "\nA target that cannot be read in one way only is denied wherever a rule asks\nabout it.")?;
        }
        Ok(())
    }
}

/// How wide a line is.
const COLUMNS: usize = 80;

fn told(f: &mut core::fmt::Formatter<'_>, standing: &Standing) -> core::fmt::Result {
    let name = format!("{}@{}", standing.capability, standing.version);
    let Some(possible) = &standing.possible else {
        return line(f, &format!("  {name:<24} not decided: too many cases"));
    };
    // Told once, for all.
    let possible: Vec<_> = possible.iter().filter(|one| one.code != Code::TargetUnjudged).collect();
    let alike = possible.windows(2).all(|pair| matches!(pair, [one, other] if one.verdict == other.verdict));
    if let (true, Some(first)) = (alike, possible.first()) {
        let verdict = first.verdict;
        let why = if verdict == Verdict::Allow { String::new() } else { format!("  {}", because(first)) };
        return line(f, &format!("  {name:<24} {}{why}", verdict.as_str()));
    }
    let on: Vec<_> = standing.depends_on.iter().map(|dimension| dimension.as_str()).collect();
    line(f, &format!("  {name:<24} depends on {}", on.join(", ")))?;
    for one in possible {
        let call = &one.witness;
        let mut example = Vec::new();
        if let Some(scope) = &call.scope {
            example.push(format!(":{}", shown(scope)));
        }
        if let Some(target) = &call.target {
            example.push(shown(target));
        }
        if standing.depends_on.contains(&Dimension::Origin) {
            example.push(call.origin.as_str().to_owned());
        }
        if standing.depends_on.contains(&Dimension::When) {
            example.push(call.at.to_string());
        }
        line(f, &format!("    {:<9} {}", one.verdict.as_str(), because(one)))?;
        line(f, &format!("              as for {}", example.join(" ")))?;
    }
    Ok(())
}

/// The rules, or the reason where there are none.
fn because(possible: &Possible) -> String {
    if possible.rules.is_empty() {
        return possible.code.message().to_owned();
    }
    possible.rules.iter().map(|rule| rule.to_string()).collect::<Vec<_>>().join(", ")
}

/// One line, cut where it is too long.
fn line(f: &mut core::fmt::Formatter<'_>, text: &str) -> core::fmt::Result {
    if text.chars().count() <= COLUMNS {
        return writeln!(f, "{}", text.trim_end());
    }
    let cut: String = text.chars().take(COLUMNS - 1).collect();
    writeln!(f, "{}…", cut.trim_end())
}
