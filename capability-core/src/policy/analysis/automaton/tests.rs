use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Atom, Budget, NotDecided, Part, Pattern};

fn atoms(patterns: &[Vec<Part<u8>>], empty: bool, budget: usize) -> Result<Vec<Atom<u8>>, NotDecided> {
    let each = |parts: &Vec<_>| Pattern { parts: parts.clone(), alike: None };
    super::atoms(&patterns.iter().map(each).collect::<Vec<_>>(), empty, &mut Budget::of(budget))
}

/// Whether a pattern matches, by trying everything.
fn matches(pattern: &[Part<u8>], word: &[Option<u8>]) -> bool {
    match pattern.split_first() {
        None => word.is_empty(),
        Some((Part::Any, rest)) => (0..=word.len()).any(|skipped| matches(rest, &word[skipped..])),
        Some((Part::One, rest)) => word.split_first().is_some_and(|(_, word)| matches(rest, word)),
        Some((Part::Exactly(symbol), rest)) => {
            word.split_first().is_some_and(|(first, word)| *first == Some(*symbol) && matches(rest, word))
        }
    }
}

fn facts(patterns: &[Vec<Part<u8>>], word: &[Option<u8>]) -> Vec<usize> {
    (0..patterns.len()).filter(|at| matches(&patterns[*at], word)).collect()
}

/// Every word of at most `longest` symbols, shorter ones first.
fn words(symbols: &[Option<u8>], longest: usize) -> Vec<Vec<Option<u8>>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..longest {
        last = last
            .iter()
            .flat_map(|word| symbols.iter().map(move |symbol| [word.as_slice(), &[*symbol]].concat()))
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

fn part() -> impl Strategy<Value = Part<u8>> {
    prop_oneof![
        4 => (0_u8..3).prop_map(Part::Exactly),
        1 => Just(Part::One),
        2 => Just(Part::Any),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    /// Against every word of up to six symbols: no fact is missed, none is invented, and no witness is longer than it must be.
    #[test]
    fn the_atoms_are_the_facts(
        patterns in prop::collection::vec(prop::collection::vec(part(), 0..4), 0..5),
        empty in any::<bool>(),
    ) {
        let found = atoms(&patterns, empty, 1_000_000).unwrap();
        let by_facts: BTreeMap<Vec<usize>, &[Option<u8>]> =
            found.iter().map(|atom| (atom.matching.iter().collect(), atom.witness.as_slice())).collect();
        prop_assert_eq!(by_facts.len(), found.len(), "one atom for each set of facts");
        for (known, witness) in &by_facts {
            prop_assert_eq!(&facts(&patterns, witness), known);
            prop_assert!(empty || !witness.is_empty());
        }
        for word in words(&[Some(0), Some(1), Some(2), None], 6) {
            if word.is_empty() && !empty {
                continue;
            }
            let witness = by_facts.get(&facts(&patterns, &word));
            prop_assert!(witness.is_some_and(|witness| witness.len() <= word.len()), "{:?} {:?}", word, witness);
        }
    }

    /// Of patterns that are alike it is still known whether one matches, together with everything about the others.
    #[test]
    fn alike_patterns_are_one_question(
        patterns in prop::collection::vec((prop::collection::vec(part(), 0..4), any::<bool>()), 0..6),
    ) {
        let classes: Vec<bool> = patterns.iter().map(|(_, alike)| *alike).collect();
        let parts: Vec<_> = patterns.iter().map(|(parts, _)| parts.clone()).collect();
        let listed: Vec<_> =
            patterns.into_iter().map(|(parts, alike)| Pattern { parts, alike: alike.then_some(7) }).collect();
        let reduced = |facts: &[usize]| {
            let apart: Vec<usize> = facts.iter().copied().filter(|at| !classes[*at]).collect();
            (apart, facts.iter().any(|at| classes[*at]))
        };
        let found = super::atoms(&listed, true, &mut Budget::of(1_000_000)).unwrap();
        let known: std::collections::BTreeSet<_> =
            found.iter().map(|atom| reduced(&atom.matching.iter().collect::<Vec<_>>())).collect();
        for atom in &found {
            prop_assert_eq!(&reduced(&facts(&parts, &atom.witness)), &reduced(&atom.matching.iter().collect::<Vec<_>>()));
        }
        for word in words(&[Some(0), Some(1), Some(2), None], 6) {
            prop_assert!(known.contains(&reduced(&facts(&parts, &word))), "{:?}", word);
        }
    }
}

#[test]
fn a_budget_that_does_not_suffice_is_no_answer() {
    // Every subset of these is an atom: a text can hold any of the letters.
    let holding: Vec<Vec<Part<u8>>> = (0..24).map(|letter| vec![Part::Any, Part::Exactly(letter), Part::Any]).collect();
    assert_eq!(atoms(&holding, true, 100_000), Err(NotDecided));
    assert_eq!(atoms(&holding[..6], true, 100_000).unwrap().len(), 64);
    // Alike, they are two cases: one of them matches, or none.
    let alike: Vec<_> = holding.into_iter().map(|parts| Pattern { parts, alike: Some(0) }).collect();
    let cases = super::atoms(&alike, true, &mut Budget::of(2_000)).unwrap();
    assert!(cases.len() == 25 && cases.iter().all(|atom| atom.matching.iter().count() <= 1));
}

#[test]
fn what_lies_before_a_passed_gap_is_forgotten() {
    // Ten gaps in one pattern: as many states as there are parts, and not two to the power of them.
    let pattern: Vec<Part<u8>> = (0..10).flat_map(|letter| [Part::Any, Part::Exactly(letter % 3)]).collect();
    let found = atoms(&[pattern], true, 1_000).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].witness.len(), 10);
}
