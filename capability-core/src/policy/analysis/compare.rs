//! Whether one policy lets through more than another.

use core::ops::ControlFlow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::check::subjects;
use super::possible::named;
use super::walk::{Span, Stop, Walk};
use super::{Asker, Entry, ORIGINS, Open, RuleName, Sketch};
use crate::policy::{Decision, MaxGrant, Policy, Rule, RuleRef, Verdict, evaluate};
use crate::session::{Declarations, Mode};
use crate::time::Timestamp;

/// What a new policy is to an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Every call ends the same.
    Equal,
    /// Some calls take more than before, and none takes less.
    Narrower,
    /// Some calls take less than before, and none takes more.
    Wider,
    /// Some calls take less than before, and others more.
    Incomparable,
    /// There are more cases than can be looked at, and none of those that were takes less than before.
    NotDecided,
}

impl Relation {
    /// Whether nothing is let through that was not before, for certain.
    #[must_use]
    pub const fn only_narrows(self) -> bool {
        matches!(self, Self::Equal | Self::Narrower)
    }

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Narrower => "narrower",
            Self::Wider => "wider",
            Self::Incomparable => "incomparable",
            Self::NotDecided => "not decided",
        }
    }
}

/// A call that ends otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The call.
    pub call: Sketch,
    /// What it took.
    pub before: Verdict,
    /// What it takes. The same as before where only what a standing grant may answer is another.
    pub after: Verdict,
    /// The rules that decided.
    pub rules_before: Vec<RuleName>,
    /// The rules that decide.
    pub rules_after: Vec<RuleName>,
}

/// The most differences that are listed in each direction.
pub const MAX_DIFFERENCES: usize = 50;

/// Two policies side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// What the new one is to the old one.
    pub relation: Relation,
    /// Calls that take less than before, at most [`MAX_DIFFERENCES`] of them: one for each subject, capability and pair of
    /// deciding rules.
    pub wider: Vec<Difference>,
    /// Calls that take more than before, likewise.
    pub narrower: Vec<Difference>,
    /// Capabilities with more cases than can be looked at.
    pub undecided: Vec<String>,
}

/// Compares what two policies say to every call of these capabilities, by anybody, within the year from `from` on, with
/// everything declared, switched on and bound: whatever else stands against a call stands under both. How far standing grants
/// may go is part of it.
#[must_use]
pub fn compare(old: &Arc<Policy>, new: &Arc<Policy>, entries: &[Entry<'_>], from: Timestamp) -> Comparison {
    let mut comparison =
        Comparison { relation: Relation::Equal, wider: Vec::new(), narrower: Vec::new(), undecided: Vec::new() };
    // Where no rule matches that only one of them has, they say the same.
    let only_one_has = |number: usize, at: RuleRef| {
        let (own, other) = if number == 0 { (old, new) } else { (new, old) };
        own.rule(at).is_none_or(|(kind, rule)| {
            // A rule in another source is another rule.
            let same = |(there, of, copy): (RuleRef, _, &Rule)| {
                (there.source, of) == (at.source, kind) && says_the_same(rule, copy)
            };
            !other.rules().any(same)
        })
    };
    let mut walk = Walk::focused(&[old, new], Span::YearFrom(from), true, Some(&only_one_has));
    let declarations = Declarations::everything();
    let (mut widens, mut narrows) = (false, false);
    let mut told = BTreeSet::new();
    for subject in subjects(&walk) {
        let asker = Asker { subject: &subject, declarations: &declarations, mode: Mode::Live, behind: &[] };
        for entry in entries {
            let visited = walk.each(&asker, entry, &ORIGINS, |Stop { sketch, .. }| {
                let of = |policy| evaluate(&sketch.question(entry.capability, &asker, &Open, policy));
                let (before, after) = (of(old), of(new));
                let Some(direction) = direction(&before, &after) else { return ControlFlow::<()>::Continue(()) };
                let widening = direction == Direction::Wider;
                widens |= widening;
                narrows |= !widening;
                let list = if widening { &mut comparison.wider } else { &mut comparison.narrower };
                if list.len() < MAX_DIFFERENCES {
                    let difference = Difference {
                        call: sketch.clone(),
                        before: before.verdict(),
                        after: after.verdict(),
                        rules_before: named(old, &before),
                        rules_after: named(new, &after),
                    };
                    let key = (
                        (widening, subject.clone(), sketch.capability.clone(), sketch.version),
                        (difference.rules_before.clone(), difference.rules_after.clone()),
                    );
                    if told.insert(key) {
                        list.push(difference);
                    }
                }
                ControlFlow::Continue(())
            });
            let name = entry.capability.name().as_str().to_owned();
            if !visited.is_ok_and(|visited| visited.is_continue()) && !comparison.undecided.contains(&name) {
                comparison.undecided.push(name);
            }
        }
    }
    comparison.relation = match (widens, narrows) {
        (true, true) => Relation::Incomparable,
        (true, false) => Relation::Wider,
        (false, _) if !comparison.undecided.is_empty() => Relation::NotDecided,
        (false, true) => Relation::Narrower,
        (false, false) => Relation::Equal,
    };
    comparison
}

/// Whether two rules differ in nothing but what is told about them.
fn says_the_same(one: &Rule, other: &Rule) -> bool {
    one.effect == other.effect
        && one.selector == other.selector
        && one.except == other.except
        && one.max_grant == other.max_grant
}

#[derive(PartialEq, Eq)]
enum Direction {
    Wider,
    Narrower,
}

/// Which way one call's end has moved.
fn direction(before: &Decision, after: &Decision) -> Option<Direction> {
    use core::cmp::Ordering;
    match after.verdict().cmp(&before.verdict()) {
        Ordering::Less => Some(Direction::Wider),
        Ordering::Greater => Some(Direction::Narrower),
        // A grant answers nothing else.
        Ordering::Equal if after.verdict() == Verdict::Ask => {
            let (old, new) = (before.grant_limit(), after.grant_limit());
            match (is_within(new, old), is_within(old, new)) {
                (true, true) => None,
                (true, false) => Some(Direction::Narrower),
                (false, _) => Some(Direction::Wider),
            }
        }
        Ordering::Equal => None,
    }
}

/// Whether a limit lets no grant go further than another one does.
fn is_within(own: Option<MaxGrant>, other: Option<MaxGrant>) -> bool {
    match (own, other) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(own), Some(other)) => own.stricter(other) == own,
    }
}
