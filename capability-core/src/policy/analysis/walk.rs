//! Through all cells of one subject and one capability.

use core::ops::ControlFlow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::automaton::{Budget, NotDecided};
use super::bits::Bits;
pub use super::space::Span;
use super::space::{Callable, Cell, Corner, Space};
use super::targets::respelt;
use super::{Asker, Entry, Sketch};
use crate::contract::{Class, TargetKind};
use crate::policy::{CapabilityPattern, Dimension, Policy, RuleEffect, RuleRef, Selector, TargetFamily};
use crate::session::Origin;
use crate::time::Timestamp;

/// Every selector of some policies, with the space they span.
pub struct Walk<'p> {
    space: Space<'p>,
    /// Only cells in which one of these selectors matches, or cannot be held against the target.
    focus: Option<Bits>,
    visited: usize,
}

/// How many cells are visited in all before questions are given up: a few seconds' work.
const MAX_CELLS: usize = 500_000;

/// A call that stands for a cell, and where else the same holds.
pub struct Stop {
    /// The call, from the first of its origins.
    pub sketch: Sketch,
    /// Every origin from which the same rules match.
    pub origins: Vec<Origin>,
}

impl<'p> Walk<'p> {
    /// Over the rules of these policies together. With `alike`, denials that differ in their targets alone
    /// and have no exceptions count as one: which of them matches is not told apart, only whether one does.
    pub fn over(policies: &[&'p Arc<Policy>], span: Span, alike: bool) -> Self {
        Self::focused(policies, span, alike, None)
    }

    /// The same, and only where one of the rules matches that `focus` takes.
    pub fn focused(
        policies: &[&'p Arc<Policy>],
        span: Span,
        alike: bool,
        focus: Option<&dyn Fn(usize, RuleRef) -> bool>,
    ) -> Self {
        // Where telling everything apart takes too long, there is the other way.
        let budget = if alike { Budget::ORDINARY } else { Budget::SMALL };
        let mut selectors = Vec::new();
        let mut classes = Vec::new();
        let mut known: HashMap<(usize, RuleKey), usize> = HashMap::new();
        let mut zones: HashMap<&str, TimeZone> = HashMap::new();
        let mut focused = Vec::new();
        for (number, policy) in policies.iter().enumerate() {
            for (at, _, _) in policy.rules() {
                let Some((_, compiled)) = policy.compiled(at) else { continue };
                let rule = &compiled.rule;
                let next = known.len();
                let looked_at = focus.is_some_and(|takes| takes(number, at));
                if looked_at {
                    focused.push(selectors.len());
                }
                // What is looked at is never one of many.
                let alike = alike && !looked_at && rule.effect == RuleEffect::Deny && rule.except.is_empty();
                let class = RuleKey::of(&rule.selector).filter(|_| alike);
                classes.push(class.map(|key| *known.entry((number, key)).or_insert(next)));
                selectors.push(&rule.selector);
                let mut note = |selector: &'p Selector, zone: Option<usize>| {
                    if let (Some(window), Some(zone)) = (&selector.when, zone.and_then(|at| policy.zones.get(at))) {
                        zones.insert(window.zone().as_str(), zone.clone());
                    }
                };
                note(&rule.selector, compiled.zone);
                for exception in &compiled.except {
                    note(&exception.selector, exception.zone);
                    selectors.push(&exception.selector);
                    classes.push(None);
                }
            }
        }
        let focus = focus.map(|_| {
            let mut bits = Bits::none(selectors.len());
            focused.iter().for_each(|at| bits.insert(*at));
            bits
        });
        let space = Space::of(selectors, classes, |name| zones.get(name).cloned(), span, budget);
        Self { space, focus, visited: 0 }
    }

    /// When the next window opens or closes, where one moment is looked at.
    pub const fn next_change(&self) -> Option<Timestamp> {
        self.space.next_change()
    }

    /// The subjects that rules name.
    pub fn named_subjects(&self) -> BTreeSet<crate::session::Subject> {
        self.space.selectors().iter().filter_map(|selector| selector.subject.clone()).collect()
    }

    /// Visits a call for every cell of one asker and one capability from these origins, until the visitor breaks.
    ///
    /// # Errors
    /// [`NotDecided`] when there are too many cells; the visitor may have seen some of them.
    pub fn each<B>(
        &mut self,
        asker: &Asker<'_>,
        entry: &Entry<'_>,
        origins: &[Origin],
        mut visit: impl FnMut(&Stop) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, NotDecided> {
        let capability = entry.capability;
        let scopes = self.scopes(asker, entry)?;
        // An operator may have given a provider's tool any class: what can come out is what comes out for one of them.
        let own = [capability.class()];
        let classes: &[Class] = if capability.through().is_some() { &Class::ALL } else { &own };
        for class in classes {
            let callable = Callable {
                name: capability.name().as_str(),
                side_effect: class.side_effect,
                target: capability.target().kind,
                target_optional: entry.target_optional,
            };
            for scope in &scopes {
                let mut seen: HashSet<Bits> = HashSet::new();
                for origin in origins {
                    let (scope, origin, behind) = (scope.as_deref(), *origin, asker.behind);
                    let corner = Corner { subject: asker.subject, callable, scope, origin, behind };
                    let left = self.space.left(&corner);
                    if self.focus.as_ref().is_some_and(|focus| focus.and(&left).is_empty())
                        || !seen.insert(left.clone())
                    {
                        continue;
                    }
                    let alike = |other: &&Origin| self.space.left(&Corner { origin: **other, ..corner }) == left;
                    let same: Vec<_> = origins.iter().filter(alike).copied().collect();
                    let cells = match scope {
                        Some(scope) if is_one_argument(entry) => self.space.cells_on(&corner, scope),
                        _ => self.space.cells(&corner)?,
                    };
                    let mut all = vec![cells];
                    // A manifest may tell a provider's tools apart where no rule does.
                    for (_, tool) in provided(asker, entry).filter(|(provider, _)| scope == Some(*provider)) {
                        all.extend(tool.map(|tool| self.space.cells_on(&corner, tool)));
                    }
                    for Cell { matching, asking, target, at } in all.iter().flat_map(|cells| cells.iter()) {
                        if self.focus.as_ref().is_some_and(|focus| focus.and(&matching.or(asking)).is_empty()) {
                            continue;
                        }
                        self.visited += 1;
                        if self.visited > MAX_CELLS {
                            return Err(NotDecided);
                        }
                        let sketch = Sketch {
                            subject: asker.subject.clone(),
                            capability: capability.name().as_str().to_owned(),
                            version: capability.version(),
                            scope: scope.map(str::to_owned),
                            origin,
                            target: target.as_deref().map(str::to_owned),
                            at: *at,
                            class: (*class != capability.class()).then_some(*class),
                        };
                        let stop = Stop { sketch, origins: same.clone() };
                        if let ControlFlow::Break(found) = visit(&stop) {
                            return Ok(ControlFlow::Break(found));
                        }
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// What the rules about one asker and one capability look at.
    pub fn looked_at(&self, asker: &Asker<'_>, entry: &Entry<'_>, origins: &[Origin]) -> Vec<Dimension> {
        let capability = entry.capability;
        let family = TargetFamily::of(capability.target().kind);
        let about = |selector: &&&Selector| {
            let name = capability.name().as_str();
            let scope = match &selector.capability {
                CapabilityPattern::Scoped { scope, .. } => Some(&**scope),
                _ => None,
            };
            let subject = selector.subject.as_ref();
            subject.is_none_or(|own| own == asker.subject || asker.behind.iter().any(|a| a.identity.subject == *own))
                && selector.capability.matches(name, scope)
                && selector.action.is_none_or(|own| capability.may_be(own))
                && selector.origin.is_none_or(|own| origins.contains(&own))
                && selector.target.as_ref().is_none_or(|own| Some(own.family()) == family)
        };
        let mut dimensions = BTreeSet::new();
        for selector in self.space.selectors().iter().filter(about) {
            let looks = [
                (matches!(selector.capability, CapabilityPattern::Scoped { .. }), Dimension::Capability),
                (selector.target.is_some(), Dimension::Target),
                (selector.when.is_some(), Dimension::When),
                (selector.origin.is_some() && origins.len() > 1, Dimension::Origin),
            ];
            dimensions.extend(looks.into_iter().filter(|(looks, _)| *looks).map(|(_, dimension)| dimension));
        }
        let (name, declared) = (capability.name().as_str(), asker.declarations);
        let any_scope = match capability.through() {
            None => declared.cover(name, Some("\0")),
            Some(_) => declared.cover_tool(name, "\0", "\0"),
        };
        if capability.scope().is_some() && !any_scope {
            dimensions.insert(Dimension::Capability);
        }
        if provided(asker, entry).any(|(_, tool)| tool.is_some()) {
            dimensions.insert(Dimension::Target);
        }
        dimensions.into_iter().collect()
    }

    /// The scopes that rules or the asker's manifest name, one that none does, and none where a call may leave it out. Where
    /// scope and target are one argument, every target that is told apart is a scope.
    fn scopes(&mut self, asker: &Asker<'_>, entry: &Entry<'_>) -> Result<Vec<Option<String>>, NotDecided> {
        let capability = entry.capability;
        if capability.scope().is_none() {
            return Ok(vec![None]);
        }
        let name = capability.name().as_str();
        let mut named: BTreeSet<String> = asker.declarations.scopes(name).map(str::to_owned).collect();
        for ancestor in asker.behind {
            named.extend(ancestor.declarations.scopes(name).map(str::to_owned));
        }
        named.extend(provided(asker, entry).map(|(provider, _)| provider.to_owned()));
        for selector in self.space.selectors() {
            if let CapabilityPattern::Scoped { name: own, scope } = &selector.capability
                && **own == *name
            {
                named.insert(scope.to_string());
            }
        }
        let mut others = (1..).map(|number| if number == 1 { "other".to_owned() } else { format!("other{number}") });
        let stranger = others.find(|name| !named.contains(name));
        if is_one_argument(entry) {
            let kind = capability.target().kind;
            let texts = self.space.texts(kind)?;
            named.extend(texts.iter().filter_map(|text| respelt(kind, text)));
            named.extend(texts);
        }
        let none = entry.scope_optional.then_some(None);
        Ok(none.into_iter().chain(named.into_iter().chain(stranger).map(Some)).collect())
    }
}

/// The providers that somebody's manifest names as effects, each with the tool where one is named; none for an entry that leads to
/// none.
fn provided<'a>(asker: &Asker<'a>, entry: &Entry<'_>) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    let leads = entry.capability.through().is_some();
    let behind = asker.behind.iter().flat_map(|ancestor| ancestor.declarations.provided());
    asker.declarations.provided().chain(behind).filter(move |_| leads)
}

/// Whether the same argument is a call's scope and its target.
fn is_one_argument(entry: &Entry<'_>) -> bool {
    let target = entry.capability.target();
    target.kind != TargetKind::None && target.argument.is_some() && target.argument == entry.capability.scope()
}

/// What is left of a selector when its target is taken away.
#[derive(PartialEq, Eq, Hash)]
struct RuleKey(Selector);

impl RuleKey {
    /// Only for targets of one sequence: places are told apart part by part.
    fn of(selector: &Selector) -> Option<Self> {
        let target = selector.target.as_ref()?;
        (target.family() != TargetFamily::Place).then(|| Self(Selector { target: None, ..selector.clone() }))
    }
}
