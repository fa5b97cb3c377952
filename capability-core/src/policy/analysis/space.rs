//! Every call there can be, told apart as finely as a set of selectors does.
//!
//! A call is a subject, a capability with its scope, an origin, a target and a moment. Dimension by dimension, calls that the
//! same selectors still can match are taken as one; what is left at the end is a *cell*: calls that exactly the same selectors
//! match, with one of them as its sketch. Nothing that a selector can see differs within a cell.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::automaton::{Budget, NotDecided};
use super::bits::Bits;
use super::moments::{Clocked, DAYS_AHEAD, Moment, moments, next_change, open_at};
use super::targets::{Numbered, Told, told_apart};
use crate::contract::{SideEffect, TargetKind};
use crate::policy::{Acted, Selector, TargetFamily, Unreadable, Window};
use crate::session::{Ancestor, Origin, Subject};
use crate::time::Timestamp;

/// A capability as selectors see it.
#[derive(Debug, Clone, Copy)]
pub struct Callable<'c> {
    /// Its dotted name.
    pub name: &'c str,
    /// By its effective class.
    pub side_effect: SideEffect,
    /// What it acts on.
    pub target: TargetKind,
    /// Whether a call may leave its target out.
    pub target_optional: bool,
}

/// Calls of one subject, capability, scope and origin that the same selectors match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Which selectors match.
    pub matching: Bits,
    /// Which selectors ask about a target that cannot be read in one way only.
    pub asking: Bits,
    /// A target of such a call, as the argument would say it; none for a call without one.
    pub target: Option<Arc<str>>,
    /// A moment of such a call.
    pub at: Timestamp,
}

/// Whose calls.
#[derive(Debug, Clone, Copy)]
pub struct Corner<'c> {
    /// Who asks.
    pub subject: &'c Subject,
    /// For what.
    pub callable: Callable<'c>,
    /// With which scope.
    pub scope: Option<&'c str>,
    /// What brought the session.
    pub origin: Origin,
    /// Whoever the session acts for: rules about them count too.
    pub behind: &'c [Ancestor],
}

/// A set of selectors, and what was found out about the dimensions they look at.
pub struct Space<'p> {
    selectors: Vec<&'p Selector>,
    /// Which of them are alike: of several that match, one is enough.
    alike: Vec<Option<usize>>,
    /// Those that look at the target, and those that look at the clock.
    targeted: Bits,
    timed: Bits,
    windows: Windows,
    /// Targets by their kind and by the selectors that are left to tell them apart.
    targets: HashMap<(TargetKind, Bits), ToldApart>,
    cells: HashMap<(TargetKind, bool, Bits), Arc<[Cell]>>,
    budget: Budget,
}

/// Targets told apart, or that there are too many.
type ToldApart = Result<Arc<[Told]>, NotDecided>;

/// Which moments are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// All within a year from this one on.
    YearFrom(Timestamp),
    /// This one.
    Now(Timestamp),
}

impl Span {
    const fn start(self) -> Timestamp {
        match self {
            Self::YearFrom(at) | Self::Now(at) => at,
        }
    }
}

/// The windows of the selectors, each once.
struct Windows {
    /// The window of each selector, by its place among the different ones.
    of: Vec<Option<usize>>,
    moments: Vec<Moment>,
    from: Timestamp,
    /// When the next of them opens or closes.
    next: Option<Timestamp>,
}

impl<'p> Space<'p> {
    /// The space that these selectors span.
    ///
    /// Selectors with the same number in `alike` differ in their targets alone, and it does not matter to whoever asks
    /// which of them match, only whether one does.
    pub fn of(
        selectors: Vec<&'p Selector>,
        alike: Vec<Option<usize>>,
        zone: impl Fn(&str) -> Option<TimeZone>,
        span: Span,
        budget: Budget,
    ) -> Self {
        let (mut targeted, mut timed) = (Bits::none(selectors.len()), Bits::none(selectors.len()));
        for (at, selector) in selectors.iter().enumerate() {
            if selector.target.is_some() {
                targeted.insert(at);
            }
            if selector.when.is_some() {
                timed.insert(at);
            }
        }
        let mut different: Vec<&Window> = Vec::new();
        let of = selectors
            .iter()
            .map(|selector| {
                let window = selector.when.as_ref()?;
                Some(different.iter().position(|known| *known == window).unwrap_or_else(|| {
                    different.push(window);
                    different.len() - 1
                }))
            })
            .collect();
        let clocked: Vec<_> =
            different.iter().map(|window| Clocked { window, zone: zone(window.zone().as_str()) }).collect();
        let (moments, next) = match span {
            Span::YearFrom(from) => (moments(&clocked, from, DAYS_AHEAD), None),
            Span::Now(at) => (vec![open_at(&clocked, at)], next_change(&clocked, at)),
        };
        let windows = Windows { of, moments, from: span.start(), next };
        Self { selectors, alike, targeted, timed, windows, targets: HashMap::new(), cells: HashMap::new(), budget }
    }

    /// When the next window opens or closes, where one moment is looked at.
    pub const fn next_change(&self) -> Option<Timestamp> {
        self.windows.next
    }

    /// The selectors.
    pub fn selectors(&self) -> &[&'p Selector] {
        &self.selectors
    }

    /// Every cell of a corner.
    ///
    /// # Errors
    /// [`NotDecided`] when there are more than the budget allows.
    pub fn cells(&mut self, corner: &Corner<'_>) -> Result<Arc<[Cell]>, NotDecided> {
        let left = self.left(corner);
        let key = (corner.callable.target, corner.callable.target_optional, left);
        if let Some(known) = self.cells.get(&key) {
            return Ok(Arc::clone(known));
        }
        let (_, _, left) = &key;
        let mut cells = Vec::new();
        let mut known = HashSet::new();
        let mut note = |cell: Cell| {
            if known.insert((cell.matching.clone(), cell.asking.clone())) {
                cells.push(cell);
            }
        };
        let told = self.targets(corner.callable.target, left)?;
        let untargeted = left.without(&self.targeted);
        if corner.callable.target_optional {
            for (matching, at) in self.at_moments(&untargeted) {
                note(Cell { matching, asking: Bits::none(self.selectors.len()), target: None, at });
            }
        }
        for Told { matching, asking, text } in told.iter() {
            let target: Option<Arc<str>> = text.as_deref().map(Arc::from);
            for (matching, at) in self.at_moments(&untargeted.or(matching)) {
                note(Cell { matching, asking: asking.clone(), target: target.clone(), at });
            }
        }
        self.budget.spend(cells.len())?;
        let cells: Arc<[Cell]> = cells.into();
        self.cells.insert(key, Arc::clone(&cells));
        Ok(cells)
    }

    /// Every cell of a corner among calls with one target.
    pub fn cells_on(&self, corner: &Corner<'_>, text: &str) -> Arc<[Cell]> {
        let left = self.left(corner);
        let kind = corner.callable.target;
        let acted = Acted::read(kind, text);
        let mut matching = left.without(&self.targeted);
        let mut asking = Bits::none(self.selectors.len());
        for at in left.and(&self.targeted).iter() {
            let Some(pattern) = self.selectors.get(at).and_then(|selector| selector.target.as_ref()) else { continue };
            if TargetFamily::of(kind) != Some(pattern.family()) {
                continue;
            }
            match acted.as_ref().map_or(Err(Unreadable), |acted| acted.is_matched_by(pattern)) {
                Ok(true) => matching.insert(at),
                Ok(false) => {}
                Err(Unreadable) => asking.insert(at),
            }
        }
        let target: Option<Arc<str>> = Some(text.into());
        let cell = |(matching, at)| Cell { matching, asking: asking.clone(), target: target.clone(), at };
        self.at_moments(&matching).into_iter().map(cell).collect()
    }

    /// One target for every case in which the selectors tell targets of a kind apart.
    ///
    /// # Errors
    /// [`NotDecided`] when there are more than the budget allows.
    pub fn texts(&mut self, kind: TargetKind) -> Result<Vec<String>, NotDecided> {
        let all = Bits::all(self.selectors.len());
        Ok(self.targets(kind, &all)?.iter().filter_map(|told| told.text.clone()).collect())
    }

    /// The selectors that target and moment are left to decide about.
    pub fn left(&self, corner: &Corner<'_>) -> Bits {
        let Corner { subject, callable, scope, origin, behind } = corner;
        let mut left = Bits::none(self.selectors.len());
        for (at, selector) in self.selectors.iter().enumerate() {
            let fits = |subject: &Subject, origin: Origin| {
                selector.subject.as_ref().is_none_or(|own| own == subject)
                    && selector.origin.is_none_or(|own| own == origin)
            };
            let somebody = fits(subject, *origin)
                || behind.iter().any(|other| fits(&other.identity.subject, other.identity.origin));
            let may = somebody
                && selector.capability.matches(callable.name, *scope)
                && selector.action.is_none_or(|own| own == callable.side_effect);
            if may {
                left.insert(at);
            }
        }
        left
    }

    fn targets(&mut self, kind: TargetKind, left: &Bits) -> ToldApart {
        let key = (kind, left.and(&self.targeted));
        if let Some(known) = self.targets.get(&key) {
            return known.clone();
        }
        let numbered = |number: usize| {
            let pattern = self.selectors.get(number)?.target.as_ref()?;
            Some(Numbered { number, pattern, alike: self.alike.get(number).copied().flatten() })
        };
        let patterns: Vec<_> = key.1.iter().filter_map(numbered).collect();
        let size = self.selectors.len();
        let told = self.budget.ask(|budget| told_apart(kind, &patterns, size, budget)).map(Arc::from);
        self.targets.insert(key, told.clone());
        told
    }

    /// Which of these selectors match at which moments.
    fn at_moments(&self, left: &Bits) -> Vec<(Bits, Timestamp)> {
        let timed = left.and(&self.timed);
        if timed.is_empty() {
            return vec![(left.clone(), self.windows.from)];
        }
        let always = left.without(&timed);
        let mut known = HashSet::new();
        let mut found = Vec::new();
        for Moment { open, at } in &self.windows.moments {
            let mut matching = always.clone();
            let is_open =
                |selector: &usize| self.windows.of.get(*selector).copied().flatten().is_some_and(|at| open.has(at));
            timed.iter().filter(is_open).for_each(|selector| matching.insert(selector));
            if known.insert(matching.clone()) {
                found.push((matching, *at));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
