//! Patterns over sequences, all of them run at once.
//!
//! A pattern is a sequence of parts: one symbol, any one symbol, or any number of symbols. Which of a set of patterns match a
//! sequence is a fact about that sequence; two sequences with the same facts are one *atom* to every question that is asked
//! of the patterns. There are finitely many atoms, and this finds all of them, each with a shortest sequence that is in it.
//!
//! The patterns are run as one deterministic automaton, built breadth first from what is reachable. Symbols that no pattern
//! names where it stands are alike to all of them and are tried as one, "another symbol". The number of atoms can grow
//! exponentially with the patterns, so there is a [`Budget`]: when it is used up there is no answer, rather than half of one.

use core::hash::Hash;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::bits::Bits;

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part<S> {
    /// This symbol.
    Exactly(S),
    /// One symbol, whichever.
    One,
    /// Any number of symbols, none included.
    Any,
}

/// A set of sequences that the same patterns match, with one of the shortest of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom<S> {
    /// Which patterns match, by their place in the list.
    pub matching: Bits,
    /// A shortest sequence that they and no others match; `None` is any symbol that no pattern names.
    pub witness: Vec<Option<S>>,
}

/// How much may be built before a question is given up: the sum of the sizes of all states, in positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: usize,
    /// The most that one question may take of it.
    each: usize,
}

/// The budget is used up: the question is not decided, in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotDecided;

impl Budget {
    /// Enough for a thousand rules as people write them.
    pub const ORDINARY: Self = Self { left: 8_000_000, each: 1_000_000 };

    /// Enough for some hundred rules.
    pub const SMALL: Self = Self { left: 1_000_000, each: 250_000 };

    /// A budget of so many positions.
    #[cfg(test)]
    pub const fn of(positions: usize) -> Self {
        Self { left: positions, each: positions }
    }

    /// Takes from it.
    pub fn spend(&mut self, positions: usize) -> Result<(), NotDecided> {
        self.left = self.left.checked_sub(positions).ok_or(NotDecided)?;
        Ok(())
    }

    /// Has one question answered, which may take its share and no more: that one has too many cases leaves room for others.
    pub fn ask<T>(&mut self, question: impl FnOnce(&mut Self) -> Result<T, NotDecided>) -> Result<T, NotDecided> {
        let share = self.left.min(self.each);
        let mut own = Self { left: share, each: share };
        let answer = question(&mut own);
        self.left -= share - own.left;
        answer
    }
}

/// A pattern, and with which others it is alike.
#[derive(Debug, Clone)]
pub struct Pattern<S> {
    /// Its parts.
    pub parts: Vec<Part<S>>,
    /// Patterns of one number are alike to whoever asks: of several that match, one is enough. Twenty words that a text must
    /// not hold are a million sets of words and two cases.
    pub alike: Option<usize>,
}

/// Finds every atom of `patterns`, those with shorter witnesses first. The empty sequence is a sequence only if `empty`.
///
/// Where several patterns that are alike match, an atom may name one of them and leave out the others.
///
/// # Errors
/// [`NotDecided`] when the budget does not suffice.
pub fn atoms<S: Copy + Ord + Hash>(
    patterns: &[Pattern<S>],
    empty: bool,
    budget: &mut Budget,
) -> Result<Vec<Atom<S>>, NotDecided> {
    let automaton = Automaton::of(patterns);
    let start = automaton.start();
    let mut found = Vec::new();
    let mut known = HashSet::new();
    let mut numbers: HashMap<State, usize> = HashMap::new();
    // The start is a state of its own: whatever comes back to it has read something.
    let mut reached = vec![Reached { state: start, from: None }];
    let mut next = 0;
    while let Some(Reached { state, .. }) = reached.get(next) {
        let state = Arc::clone(state);
        budget.spend(state.len() + 8)?;
        if next > 0 || empty {
            let matching = automaton.accepted(&state, patterns.len());
            if known.insert(matching.clone()) {
                found.push(Atom { matching, witness: way(&reached, next) });
            }
        }
        automaton.successors(&state, |symbol, to| {
            numbers.entry(to).or_insert_with_key(|to| {
                reached.push(Reached { state: Arc::clone(to), from: Some((next, symbol)) });
                reached.len() - 1
            });
        });
        next += 1;
    }
    Ok(found)
}

/// The positions that are alive, ascending.
type State = Arc<[u32]>;

/// A state, and how it was first reached.
struct Reached<S> {
    state: State,
    from: Option<(usize, Option<S>)>,
}

/// The symbols from the start to a state.
fn way<S: Copy>(reached: &[Reached<S>], mut at: usize) -> Vec<Option<S>> {
    let mut symbols = Vec::new();
    while let Some((from, symbol)) = reached.get(at).and_then(|reached| reached.from) {
        symbols.push(symbol);
        at = from;
    }
    symbols.reverse();
    symbols
}

/// What stands at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step<S> {
    Part(Part<S>),
    End,
}

/// All patterns, one after the other: a position is a place in one of them.
struct Automaton<S> {
    steps: Vec<(Step<S>, u32)>,
    starts: Vec<u32>,
    /// By pattern.
    alike: Vec<Option<usize>>,
}

impl<S: Copy + Ord> Automaton<S> {
    fn of(patterns: &[Pattern<S>]) -> Self {
        let (mut steps, mut starts) = (Vec::new(), Vec::new());
        for (owner, pattern) in (0..).zip(patterns) {
            starts.push(u32::try_from(steps.len()).unwrap_or(u32::MAX));
            steps.extend(pattern.parts.iter().map(|part| (Step::Part(*part), owner)));
            steps.push((Step::End, owner));
        }
        Self { steps, starts, alike: patterns.iter().map(|pattern| pattern.alike).collect() }
    }

    fn alike(&self, owner: u32) -> Option<usize> {
        self.alike.get(owner as usize).copied().flatten()
    }

    fn step(&self, position: u32) -> Option<(Step<S>, u32)> {
        self.steps.get(position as usize).copied()
    }

    /// A position with those that are reached from it by reading nothing.
    fn settle(&self, mut position: u32, into: &mut Vec<u32>) {
        into.push(position);
        while let Some((Step::Part(Part::Any), _)) = self.step(position) {
            position += 1;
            into.push(position);
        }
    }

    fn start(&self) -> State {
        let mut positions = Vec::new();
        self.starts.iter().for_each(|start| self.settle(*start, &mut positions));
        self.state(positions)
    }

    /// The state of these positions. Within one pattern, what stands before the last `Any` that was reached can match nothing
    /// that the rest from there on does not match as well, and is left out: without that, states multiply.
    fn state(&self, mut positions: Vec<u32>) -> State {
        positions.sort_unstable();
        positions.dedup();
        let mut passed = None;
        let mut kept: Vec<u32> = Vec::with_capacity(positions.len());
        for position in positions.into_iter().rev() {
            let Some((step, owner)) = self.step(position) else { continue };
            if passed == Some(owner) {
                continue;
            }
            if step == Step::Part(Part::Any) {
                passed = Some(owner);
            }
            kept.push(position);
        }
        kept.reverse();
        // Of those that are alike, one that matches whatever follows stands for all.
        let certain = |position: &u32| {
            matches!(self.step(*position), Some((Step::Part(Part::Any), _)))
                && matches!(self.step(position + 1), Some((Step::End, _)))
        };
        let mut standing: Vec<(usize, u32)> = Vec::new();
        for position in kept.iter().filter(|position| certain(position)) {
            let Some((_, owner)) = self.step(*position) else { continue };
            if let Some(class) = self.alike(owner)
                && !standing.iter().any(|(known, _)| *known == class)
            {
                standing.push((class, owner));
            }
        }
        if !standing.is_empty() {
            kept.retain(|position| {
                let owner = self.step(*position).map(|(_, owner)| owner);
                let class = owner.and_then(|owner| self.alike(owner));
                standing.iter().all(|(known, stands)| class != Some(*known) || owner == Some(*stands))
            });
        }
        kept.into()
    }

    /// Every symbol that makes a difference here, and "another one", with where it leads.
    fn successors(&self, state: &State, mut each: impl FnMut(Option<S>, State)) {
        let mut others = Vec::new();
        let mut named: Vec<(S, u32)> = Vec::new();
        for position in state.iter().copied() {
            match self.step(position) {
                Some((Step::Part(Part::Any), _)) => self.settle(position, &mut others),
                Some((Step::Part(Part::One), _)) => self.settle(position + 1, &mut others),
                Some((Step::Part(Part::Exactly(symbol)), _)) => named.push((symbol, position + 1)),
                Some((Step::End, _)) | None => {}
            }
        }
        // First: so that a witness names a symbol only where that makes a difference.
        each(None, self.state(others.clone()));
        named.sort_unstable();
        for same in named.chunk_by(|a, b| a.0 == b.0) {
            let Some((symbol, _)) = same.first() else { continue };
            let mut positions = others.clone();
            same.iter().for_each(|(_, position)| self.settle(*position, &mut positions));
            each(Some(*symbol), self.state(positions));
        }
    }

    fn accepted(&self, state: &State, patterns: usize) -> Bits {
        let mut matching = Bits::none(patterns);
        for position in state.iter().copied() {
            if let Some((Step::End, owner)) = self.step(position) {
                matching.insert(owner as usize);
            }
        }
        matching
    }
}

#[cfg(test)]
mod tests;
