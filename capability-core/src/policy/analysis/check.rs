//! Rules that do nothing, and rules that disagree.

use core::ops::ControlFlow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::automaton::NotDecided;
use super::walk::{Span, Walk};
use super::{Asker, Entry, ORIGINS, Open, RuleName, Sketch};
use crate::contract::DefaultEffect;
use crate::policy::narrower::is_narrower;
use crate::policy::{CapabilityPattern, Decision, Fate, Policy, Rule, RuleEffect, RuleRef, Source, Verdict, evaluate};
use crate::session::{Declarations, Mode, Subject};
use crate::time::Timestamp;

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A rule that matches no call there can be.
    Dead,
    /// A rule that matches, never decides, and whose absence would change nothing.
    Shadowed,
    /// A denial whose every call another denial denies too.
    Covered,
    /// A rule that allows what ends the same without it: under a floor, a lock, or nothing to be allowed.
    WithoutEffect,
    /// Two rules of one source that say different things to the same call, neither of which is narrower.
    Conflict,
    /// There are more cases than can be looked at, so that nothing is said about rules on some capability.
    NotDecided,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// The rules it is about, the one to be looked at first.
    pub rules: Vec<RuleName>,
    /// What was found.
    pub sentence: String,
    /// What to do about it.
    pub help: String,
    /// A call for which it is so, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Sketch>,
}

/// What is known of a rule once every cell was seen.
#[derive(Default)]
struct Facts {
    /// A call that it matches.
    matches: Option<Sketch>,
    decides: bool,
    /// Whether some call would end otherwise without it.
    counts: bool,
    /// Those that decide wherever it matches; none until it does.
    instead: Option<BTreeSet<RuleRef>>,
    /// It is about a capability that has too many cases.
    unknown: bool,
}

/// Looks for rules that do nothing and rules that disagree, among all calls of these capabilities by anybody within the
/// year from `from` on.
#[must_use]
pub fn check(policy: &Arc<Policy>, entries: &[Entry<'_>], from: Timestamp) -> Vec<Finding> {
    let mut seen = Seen::of(policy);
    let mut walk = Walk::over(&[policy], Span::YearFrom(from), false);
    let mut rough = None;
    let mut findings = Vec::new();
    for subject in subjects(&walk) {
        let declarations = Declarations::everything();
        let asker = Asker { subject: &subject, declarations: &declarations, mode: Mode::Live, behind: &[] };
        for entry in entries {
            if seen.cells(&mut walk, &asker, entry).is_ok() {
                continue;
            }
            // Again, with denials that differ in their targets alone as one: they are not told apart then.
            let rough = rough.get_or_insert_with(|| Walk::over(&[policy], Span::YearFrom(from), true));
            let decided = seen.cells(rough, &asker, entry).is_ok();
            seen.roughly = true;
            if !decided {
                seen.unknown(entry);
            }
            let name = entry.capability.name();
            let told = findings.iter().any(|known: &Finding| known.sentence.contains(name.as_str()));
            if !decided && !told {
                findings.push(Finding {
                    kind: FindingKind::NotDecided,
                    rules: Vec::new(),
                    sentence: format!("the rules about `{name}` tell more cases apart than can be looked at"),
                    help: "write fewer patterns with several wildcards".to_owned(),
                    witness: None,
                });
            }
        }
    }
    findings.extend(seen.findings());
    findings
}

/// Everybody whom rules tell apart: those who are named, and one who is not.
pub(super) fn subjects(walk: &Walk<'_>) -> Vec<Subject> {
    let mut named = walk.named_subjects();
    let mut others = (1..).map(|number| if number == 1 { "anybody".to_owned() } else { format!("anybody-{number}") });
    let stranger = others.find_map(|name| name.parse::<Subject>().ok().filter(|one| !named.contains(one)));
    named.extend(stranger);
    named.into_iter().collect()
}

struct Seen<'p> {
    policy: &'p Arc<Policy>,
    facts: BTreeMap<RuleRef, Facts>,
    /// The policy without one rule, made when it is first needed.
    without: BTreeMap<RuleRef, Arc<Policy>>,
    conflicts: BTreeMap<(RuleRef, RuleRef), Sketch>,
    /// Denials that differ in their targets alone were not told apart everywhere.
    roughly: bool,
}

impl<'p> Seen<'p> {
    fn of(policy: &'p Arc<Policy>) -> Self {
        let facts = policy.rules().map(|(at, _, _)| (at, Facts::default())).collect();
        Self { policy, facts, without: BTreeMap::new(), conflicts: BTreeMap::new(), roughly: false }
    }

    fn cells(&mut self, walk: &mut Walk<'_>, asker: &Asker<'_>, entry: &Entry<'_>) -> Result<(), NotDecided> {
        let visited = walk.each(asker, entry, &ORIGINS, |stop| {
            self.cell(&stop.sketch, asker, entry);
            ControlFlow::<()>::Continue(())
        })?;
        if visited.is_continue() { Ok(()) } else { Err(NotDecided) }
    }

    fn cell(&mut self, sketch: &Sketch, asker: &Asker<'_>, entry: &Entry<'_>) {
        let decision = evaluate(&sketch.question(entry.capability, asker, &Open, self.policy));
        let (matching, verdict) = (matching(&decision), decision.verdict());
        let keeps_away = entry.capability.default_effect() != DefaultEffect::Floor
            || matching.iter().any(|(_, fate)| matches!(fate, Fate::Displaced { .. }));
        let deciding: BTreeSet<_> = decision.rules().into_iter().flat_map(|rules| rules.deciding()).collect();
        for (at, fate) in &matching {
            let Some((_, rule)) = self.policy.rule(*at) else { continue };
            let is_denial = rule.effect == RuleEffect::Deny;
            let counted = self.facts.get(at).is_none_or(|facts| facts.counts);
            // Without it the call can only end otherwise where it decides, or keeps something stricter from counting.
            let may_count = !is_denial && (keeps_away || (*fate == Fate::Decides && rule.effect.verdict() == verdict));
            let counts = counted || (may_count && self.counts(*at, verdict, sketch, asker, entry));
            let Some(facts) = self.facts.get_mut(at) else { continue };
            facts.matches.get_or_insert_with(|| sketch.clone());
            facts.decides |= *fate == Fate::Decides;
            facts.counts |= counts;
            if !is_denial && facts.decides {
                continue;
            }
            let mut instead = deciding.clone();
            instead.remove(at);
            facts.instead = Some(match facts.instead.take() {
                Some(known) => known.intersection(&instead).copied().collect(),
                None => instead,
            });
        }
        self.disagreements(sketch, &matching);
    }

    /// Whether this call would end otherwise without this rule.
    fn counts(&mut self, at: RuleRef, verdict: Verdict, sketch: &Sketch, asker: &Asker<'_>, entry: &Entry<'_>) -> bool {
        let policy = self.policy;
        let without = self.without.entry(at).or_insert_with(|| only(policy, |other| other != at));
        evaluate(&sketch.question(entry.capability, asker, &Open, without)).verdict() != verdict
    }

    /// Those that decide, against the others of their source that match and are not what a narrower one replaces.
    fn disagreements(&mut self, sketch: &Sketch, matching: &[(RuleRef, Fate)]) {
        let raising = |at: RuleRef| self.policy.compiled(at).filter(|(_, own)| own.rule.effect != RuleEffect::Deny);
        for (at, _) in matching.iter().filter(|(_, fate)| *fate == Fate::Decides) {
            let Some((_, strict)) = raising(*at) else { continue };
            for (other, _) in matching.iter().filter(|(other, _)| other.source == at.source && other != at) {
                let Some((_, mild)) = raising(*other) else { continue };
                if mild.rule.effect < strict.rule.effect && !is_narrower(strict, mild) && !is_narrower(mild, strict) {
                    self.conflicts.entry((*at, *other)).or_insert_with(|| sketch.clone());
                }
            }
        }
    }

    /// Nothing is said about rules on a capability that has too many cases.
    fn unknown(&mut self, entry: &Entry<'_>) {
        let pattern = CapabilityPattern::Name(entry.capability.name().as_str().into());
        for (at, _, rule) in self.policy.rules() {
            if rule.selector.capability.overlaps(&pattern)
                && let Some(facts) = self.facts.get_mut(&at)
            {
                facts.unknown = true;
            }
        }
    }

    /// A denial that denies everything that this one does. Where denials were not told apart, only what their selectors say
    /// for certain.
    fn coverer(&self, at: RuleRef, rule: &Rule, facts: &Facts) -> Option<RuleRef> {
        let includes = |other: RuleRef| {
            let (_, own) = self.policy.rule(other)?;
            let all = own.effect == RuleEffect::Deny && own.except.is_empty();
            Some(all && own.selector.includes(&rule.selector))
        };
        let back = |other: RuleRef| {
            let (_, own) = self.policy.rule(other)?;
            Some(rule.except.is_empty() && rule.selector.includes(&own.selector))
        };
        if self.roughly {
            let others = self.policy.rules().map(|(other, _, _)| other).filter(|other| *other != at);
            let mut covers = others.filter(|other| includes(*other) == Some(true));
            return covers.find(|other| back(*other) != Some(true) || *other < at);
        }
        // Of two that deny the same, the later is the one too many.
        let covers = |other: &RuleRef| {
            let back = self.facts.get(other).and_then(|facts| facts.instead.as_ref());
            self.is_denial(*other) && (!back.is_some_and(|back| back.contains(&at)) || *other < at)
        };
        facts.instead.iter().flatten().copied().find(covers)
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut tell = |kind, at: &[RuleRef], sentence: String, help: &str, witness: Option<&Sketch>| {
            let rules = at.iter().filter_map(|at| RuleName::of(self.policy, *at)).collect();
            findings.push(Finding { kind, rules, sentence, help: help.to_owned(), witness: witness.cloned() });
        };
        let name = |at: RuleRef| RuleName::of(self.policy, at).map_or_else(String::new, |name| name.to_string());
        for (at, facts) in self.facts.iter().filter(|(_, facts)| !facts.unknown) {
            let Some((_, rule)) = self.policy.rule(*at) else { continue };
            let (own, witness) = (name(*at), facts.matches.as_ref());
            if rule.effect == RuleEffect::Deny
                && let Some(other) = self.coverer(*at, rule, facts).filter(|_| self.roughly || witness.is_some())
            {
                let sentence = format!("rule {own} denies nothing that rule {} does not deny", name(other));
                let help = "take it back, or make the other one narrower";
                tell(FindingKind::Covered, &[*at, other], sentence, help, witness);
                continue;
            }
            if witness.is_none() {
                // Another one that is alike may stand for it.
                if self.roughly && rule.effect == RuleEffect::Deny && rule.except.is_empty() {
                    continue;
                }
                let sentence = format!("rule {own} matches no call that there can be");
                tell(FindingKind::Dead, &[*at], sentence, help_for_dead(rule), None);
                continue;
            }
            let instead: Vec<_> = facts.instead.iter().flatten().copied().collect();
            if rule.effect == RuleEffect::Deny {
                continue;
            }
            if !facts.decides && !facts.counts {
                let by: Vec<_> = instead.iter().map(|other| name(*other)).collect();
                let by = if by.is_empty() { "others".to_owned() } else { by.join(", ") };
                let sentence = format!("rule {own} never decides: wherever it matches, {by} does");
                let rules = [&[*at], instead.as_slice()].concat();
                tell(
                    FindingKind::Shadowed,
                    &rules,
                    sentence,
                    "take it back, or make it narrower than what decides",
                    witness,
                );
            } else if !facts.counts && rule.effect == RuleEffect::Allow {
                let sentence = format!("rule {own} allows nothing: without it the same calls end the same");
                let help = "take it back: a rule never lowers what a class or a lock demands";
                tell(FindingKind::WithoutEffect, &[*at], sentence, help, witness);
            }
        }
        for ((strict, mild), witness) in &self.conflicts {
            let effect = |at| self.policy.rule(at).map_or("", |(_, rule)| rule.effect.as_str());
            let sentence = format!(
                "rules {} ({}) and {} ({}) are about some of the same calls and neither is narrower, so the stricter counts",
                name(*strict),
                effect(*strict),
                name(*mild),
                effect(*mild),
            );
            let help = "if the milder is meant to win, make it narrower, or put an `except` into the other";
            tell(FindingKind::Conflict, &[*strict, *mild], sentence, help, Some(witness));
        }
        findings
    }

    fn is_denial(&self, at: RuleRef) -> bool {
        self.policy.rule(at).is_some_and(|(_, rule)| rule.effect == RuleEffect::Deny)
    }
}

const fn help_for_dead(rule: &Rule) -> &'static str {
    if rule.except.is_empty() {
        "see whether its target, its hours and its capability can ever come together"
    } else {
        "see whether its exceptions leave anything over"
    }
}

fn matching(decision: &Decision) -> Vec<(RuleRef, Fate)> {
    let considered = decision.rules().into_iter().flat_map(|rules| rules.considered());
    considered.filter(|own| own.fate.matches()).map(|own| (own.rule, own.fate)).collect()
}

/// A policy of some of the rules of another.
fn only(policy: &Policy, keep: impl Fn(RuleRef) -> bool) -> Arc<Policy> {
    let mut zones: BTreeMap<&str, &TimeZone> = BTreeMap::new();
    for compiled in policy.sources.iter().flat_map(|source| &source.rules) {
        let exceptions = compiled.except.iter().map(|except| (&except.selector, except.zone));
        for (selector, zone) in exceptions.chain([(&compiled.rule.selector, compiled.zone)]) {
            if let (Some(window), Some(zone)) = (&selector.when, zone.and_then(|at| policy.zones.get(at))) {
                zones.insert(window.zone().as_str(), zone);
            }
        }
    }
    let mut sources = Vec::new();
    for (number, source) in (0_u16..).zip(&policy.sources) {
        let numbered = (0_u32..).zip(&source.rules);
        let kept = numbered.filter(|(rule, _)| keep(RuleRef { source: number, rule: *rule }));
        sources.push(Source::new(source.kind, &[], kept.map(|(_, compiled)| compiled.rule.clone()).collect()));
    }
    // What compiled with more rules compiles with fewer.
    Policy::compile(sources, &|name| zones.get(name).map(|zone| (*zone).clone()))
        .map_or_else(|_| Arc::default(), Arc::new)
}
