//! Rules held against one call.

use core::cell::{Cell, OnceCell};
use std::sync::Arc;

use super::narrower::is_narrower;
use super::rule::{MaxGrant, RuleEffect};
use super::selector::{CapabilityPattern, Dimension, Selector};
use super::set::{CompiledRule, Policy, RuleRef, SourceKind};
use super::targets::{Acted, TargetFamily, Unreadable};
use super::window::minute_of_week;
use super::{Change, Verdict};
use crate::code::Code;
use crate::contract::{DefaultEffect, SideEffect, TargetKind};
use crate::session::{Origin, Subject};
use crate::time::Timestamp;

/// The beginning of 2020, in microseconds. A clock that shows an earlier time was never set.
const CLOCKS_ARE_SET_AFTER: i64 = 1_577_836_800_000_000;

/// The most rules that did not match of which a decision keeps record, so that its size has an end; those that matched are
/// all kept.
const MAX_MISSED: usize = 64;

/// What rules ask about a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) name: &'a str,
    pub(super) scope: Option<&'a str>,
    pub(super) subject: &'a Subject,
    pub(super) action: SideEffect,
    pub(super) origin: Origin,
    pub(super) target: Option<(TargetKind, &'a str)>,
    pub(super) at: Timestamp,
}

/// What became of one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It matches, and its source's word is its effect.
    Decides,
    /// It matches, and something stricter of its source decides.
    Outweighed,
    /// It matches, and a narrower matching rule of its source takes its place.
    Displaced {
        /// Which.
        by: RuleRef,
    },
    /// It does not match.
    Missed {
        /// The first part of its selector that does not fit.
        by: Dimension,
    },
    /// One of its exceptions matches.
    Excepted {
        /// Which, counted from 0.
        exception: usize,
    },
}

impl Fate {
    /// Whether the rule matches the call.
    #[must_use]
    pub const fn matches(self) -> bool {
        matches!(self, Self::Decides | Self::Outweighed | Self::Displaced { .. })
    }
}

/// A rule that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Considered {
    /// Which.
    pub rule: RuleRef,
    /// What it says.
    pub effect: RuleEffect,
    /// What became of it.
    pub fate: Fate,
}

/// Everything that rules had to do with a decision.
#[derive(Debug, Clone)]
pub struct RulesSaid {
    pub(super) policy: Arc<Policy>,
    pub(super) default: DefaultEffect,
    /// By source, and within one in the order they are written.
    pub(super) considered: Vec<Considered>,
    pub(super) omitted: usize,
    /// Whether the call acts on more than what these rules were held against.
    pub(super) several: bool,
}

/// Why a rule cannot be held against a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Target,
    Clock,
}

impl Fault {
    pub(super) const fn code(self) -> Code {
        match self {
            Self::Target => Code::TargetUnjudged,
            Self::Clock => Code::ClockUnjudged,
        }
    }
}

/// What the rules of all sources say.
pub(super) struct Judgement {
    /// In the order of [`SourceKind::ALL`].
    pub(super) said: [(Verdict, Code); 3],
    pub(super) fault: Option<Fault>,
    pub(super) considered: Vec<Considered>,
    pub(super) omitted: usize,
}

/// A call, with what was read of it so far.
struct Facts<'a> {
    asking: &'a Asking<'a>,
    policy: &'a Policy,
    acted: OnceCell<Option<Result<Acted<'a>, Unreadable>>>,
    /// The last zone that was asked for, and what its clocks show. Most policies have one.
    minute: Cell<Option<(usize, Option<u16>)>>,
}

impl<'a> Facts<'a> {
    fn acted(&self) -> Option<&Result<Acted<'a>, Unreadable>> {
        let read = || self.asking.target.map(|(kind, text)| Acted::read(kind, text));
        self.acted.get_or_init(read).as_ref()
    }

    fn minute(&self, zone: usize) -> Option<u16> {
        if let Some((_, minute)) = self.minute.get().filter(|(known, _)| *known == zone) {
            return minute;
        }
        let set = self.asking.at.as_micros() >= CLOCKS_ARE_SET_AFTER;
        let minute =
            if set { self.policy.zones.get(zone).and_then(|zone| minute_of_week(self.asking.at, zone)) } else { None };
        self.minute.set(Some((zone, minute)));
        minute
    }

    /// The first part of a selector that does not fit; none when all do. `named` says that the call's name is known to fit.
    #[inline]
    fn miss(&self, selector: &Selector, zone: Option<usize>, named: bool) -> Result<Option<Dimension>, Fault> {
        let asking = self.asking;
        if selector.subject.as_ref().is_some_and(|subject| subject != asking.subject) {
            return Ok(Some(Dimension::Subject));
        }
        let fits = match &selector.capability {
            CapabilityPattern::Scoped { scope, .. } if named => asking.scope == Some(scope),
            _ if named => true,
            pattern => pattern.matches(asking.name, asking.scope),
        };
        if !fits {
            return Ok(Some(Dimension::Capability));
        }
        if selector.action.is_some_and(|action| action != asking.action) {
            return Ok(Some(Dimension::Action));
        }
        if selector.origin.is_some_and(|origin| origin != asking.origin) {
            return Ok(Some(Dimension::Origin));
        }
        if let Some(pattern) = &selector.target {
            let family = asking.target.and_then(|(kind, _)| TargetFamily::of(kind));
            if family != Some(pattern.family()) {
                return Ok(Some(Dimension::Target));
            }
            let matched = match self.acted() {
                Some(Ok(acted)) => acted.is_matched_by(pattern).map_err(|Unreadable| Fault::Target)?,
                Some(Err(Unreadable)) | None => return Err(Fault::Target),
            };
            if !matched {
                return Ok(Some(Dimension::Target));
            }
        }
        if let Some(window) = &selector.when {
            let minute = zone.and_then(|zone| self.minute(zone)).ok_or(Fault::Clock)?;
            if !window.holds(minute) {
                return Ok(Some(Dimension::When));
            }
        }
        Ok(None)
    }

    fn fate(&self, compiled: &CompiledRule, named: bool) -> Result<Fate, Fault> {
        if let Some(by) = self.miss(&compiled.rule.selector, compiled.zone, named)? {
            return Ok(Fate::Missed { by });
        }
        for (exception, except) in compiled.except.iter().enumerate() {
            if self.miss(&except.selector, except.zone, false)?.is_none() {
                return Ok(Fate::Excepted { exception });
            }
        }
        // Until it is settled.
        Ok(Fate::Outweighed)
    }
}

/// What becomes of one rule alone; for examples.
pub(super) fn fate_of(policy: &Policy, rule: RuleRef, asking: &Asking<'_>) -> Result<Fate, Fault> {
    let facts = Facts { asking, policy, acted: OnceCell::new(), minute: Cell::new(None) };
    policy.compiled(rule).map_or(Err(Fault::Target), |(_, compiled)| facts.fate(compiled, false))
}

/// Holds every rule against a call. With `everything`, those that the index would leave out are listed too.
pub(super) fn judge(policy: &Policy, asking: &Asking<'_>, default: DefaultEffect, everything: bool) -> Judgement {
    let facts = Facts { asking, policy, acted: OnceCell::new(), minute: Cell::new(None) };
    let mut judgement = Judgement {
        said: [(Verdict::Allow, Code::Clear); 3],
        fault: None,
        considered: Vec::with_capacity(16),
        omitted: 0,
    };
    let (mut missed, mut operator) = (0, false);
    for (source, number) in policy.sources.iter().zip(0_u16..) {
        let begin = judgement.considered.len();
        let mut hold = |rule: u32| {
            let at = RuleRef { source: number, rule };
            let Some(compiled) = usize::try_from(rule).ok().and_then(|rule| source.rules.get(rule)) else { return };
            // What the index gives is about the call's name, if not its scope.
            match facts.fate(compiled, !everything) {
                Ok(fate) if !fate.matches() && missed >= MAX_MISSED && !everything => judgement.omitted += 1,
                Ok(fate) => {
                    missed += usize::from(!fate.matches());
                    judgement.considered.push(Considered { rule: at, effect: compiled.rule.effect, fate });
                }
                // Whatever fault: the call is denied, and which of two is told must not depend on order.
                Err(fault) => judgement.fault = Some(judgement.fault.map_or(fault, |known| known.max(fault))),
            }
        };
        if everything {
            (0_u32..).zip(&source.rules).for_each(|(at, _)| hold(at));
        } else {
            source.index.candidates(asking.name, asking.subject.as_str(), || facts.acted(), hold);
        }
        let own = judgement.considered.get_mut(begin..).unwrap_or_default();
        own.sort_unstable_by_key(|considered| considered.rule);
        operator |= source.kind == SourceKind::Operator;
        let default = if source.kind == SourceKind::Operator { default } else { DefaultEffect::Floor };
        raise(&mut judgement.said, source.kind, settle(policy, own, default));
    }
    if !operator {
        raise(&mut judgement.said, SourceKind::Operator, settle(policy, &mut [], default));
    }
    judgement
}

/// What a source of rules says goes into its kind's word, which is the strictest of its sources.
fn raise(said: &mut [(Verdict, Code); 3], kind: SourceKind, word: (Verdict, Code)) {
    for (own, said) in SourceKind::ALL.into_iter().zip(said) {
        if own == kind && word.0 > said.0 {
            *said = word;
        }
    }
}

/// What one source says, given which of its rules match. Any denial decides; else the strictest of those that no narrower
/// matching rule displaces. The default is the widest rule there can be: any matching rule that is not about everything
/// displaces it.
fn settle(policy: &Policy, considered: &mut [Considered], default: DefaultEffect) -> (Verdict, Code) {
    let matching = considered.iter().filter(|own| own.fate.matches());
    let strictest = matching.map(|own| own.effect).max();
    let displaces_default = |considered: &Considered| {
        considered.fate.matches()
            && policy.compiled(considered.rule).is_some_and(|(_, compiled)| {
                !compiled.rule.selector.is_everything() || !compiled.rule.except.is_empty()
            })
    };
    let default = match default {
        DefaultEffect::Floor => (Verdict::Allow, Code::Clear),
        _ if considered.iter().any(displaces_default) => (Verdict::Allow, Code::Clear),
        DefaultEffect::Ask => (Verdict::Ask, Code::DefaultAsk),
        DefaultEffect::Deny => (Verdict::Deny, Code::DefaultDeny),
    };
    let Some(strictest) = strictest else { return default };
    for effect in [RuleEffect::Deny, RuleEffect::AskFresh, RuleEffect::Ask, RuleEffect::Allow] {
        if effect > strictest && effect.verdict() > default.0 {
            continue;
        }
        let mut decided = false;
        for at in 0..considered.len() {
            let Some(own) = considered.get(at).copied() else { continue };
            if own.effect != effect || !own.fate.matches() {
                continue;
            }
            let by = if effect == RuleEffect::Deny { None } else { displacer(policy, considered, own.rule) };
            decided |= by.is_none();
            if let Some(own) = considered.get_mut(at) {
                own.fate = by.map_or(Fate::Decides, |by| Fate::Displaced { by });
            }
        }
        let word = (effect.verdict(), code_of(effect));
        if decided && word.0 >= default.0 {
            return word;
        }
        // It is stricter than whatever is left.
        if default.0 >= word.0 && default.0 > Verdict::Allow {
            return default;
        }
    }
    (Verdict::Allow, Code::Clear)
}

/// A matching rule that is narrower than this one.
fn displacer(policy: &Policy, considered: &[Considered], wide: RuleRef) -> Option<RuleRef> {
    let (_, outer) = policy.compiled(wide)?;
    let narrower = |other: &&Considered| {
        other.rule != wide
            && other.fate.matches()
            && other.effect != RuleEffect::Deny
            && policy.compiled(other.rule).is_some_and(|(_, inner)| is_narrower(inner, outer))
    };
    considered.iter().find(narrower).map(|narrower| narrower.rule)
}

const fn code_of(effect: RuleEffect) -> Code {
    match effect {
        RuleEffect::Allow => Code::Clear,
        RuleEffect::Ask => Code::RuleAsk,
        RuleEffect::AskFresh => Code::RuleAskFresh,
        RuleEffect::Deny => Code::RuleDeny,
    }
}

impl RulesSaid {
    /// The call acts on more than what these rules were held against: what lowers their word need not lower the call's.
    pub(super) const fn one_of_several(&mut self) {
        self.several = true;
    }

    /// The policy that was asked.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The rules that were looked at: those about this capability, without what an index left out because its target or
    /// subject is another one.
    #[must_use]
    pub fn considered(&self) -> &[Considered] {
        &self.considered
    }

    /// How many more were looked at and did not match.
    #[must_use]
    pub const fn omitted(&self) -> usize {
        self.omitted
    }

    /// The rules whose effect is their source's word.
    pub fn deciding(&self) -> impl Iterator<Item = RuleRef> + '_ {
        self.considered.iter().filter(|own| own.fate == Fate::Decides).map(|own| own.rule)
    }

    /// How far a grant may go: the strictest limit of all rules that match.
    #[must_use]
    pub fn grant_limit(&self) -> Option<MaxGrant> {
        let matching = self.considered.iter().filter(|own| own.fate.matches());
        let limits = matching.filter_map(|own| self.policy.rule(own.rule)?.1.max_grant);
        limits.reduce(MaxGrant::stricter)
    }

    /// What has to change for the rules of one kind of source to say less than `verdict`, and what they would say then.
    pub(super) fn below(&self, kind: SourceKind, verdict: Verdict, changes: &mut Vec<Change>) -> Verdict {
        let mut left = self.considered.clone();
        left.retain(|own| own.fate.matches());
        let default = if kind == SourceKind::Operator { self.default } else { DefaultEffect::Floor };
        let before = changes.len();
        loop {
            let mut said = Verdict::Allow;
            let mut deciding = Vec::new();
            let mut defaulted = false;
            for (_, number) in self.policy.sources.iter().zip(0_u16..).filter(|(source, _)| source.kind == kind) {
                let mut own: Vec<_> = left.iter().copied().filter(|own| own.rule.source == number).collect();
                own.iter_mut().for_each(|own| own.fate = Fate::Outweighed);
                let (word, code) = settle(&self.policy, &mut own, default);
                defaulted |= word >= verdict && matches!(code, Code::DefaultAsk | Code::DefaultDeny);
                if word >= verdict {
                    deciding.extend(own.iter().filter(|own| own.fate == Fate::Decides).map(|own| own.rule));
                }
                said = said.max(word);
            }
            if said < verdict {
                return said;
            }
            if defaulted {
                // A rule that is narrower than the default and than everything else that asks takes the place of all of it.
                if verdict < Verdict::Deny {
                    changes.truncate(before);
                }
                changes.push(Change::NarrowerRule);
                return Verdict::Allow;
            }
            if deciding.is_empty() {
                return said;
            }
            changes.extend(deciding.iter().map(|rule| Change::WithoutRule { rule: *rule }));
            left.retain(|own| !deciding.contains(&own.rule));
        }
    }
}
