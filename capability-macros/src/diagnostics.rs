//! Compile errors of ours: one grammar, all of them at once.

use core::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// What is wrong, the rule it breaks, and text that can be pasted. The only way to word an error, so that none lacks a part.
pub struct Problem(String);

impl Problem {
    pub fn new(wrong: impl Display, rule: impl Display, help: impl Display) -> Self {
        Self(format!("{wrong}: {rule}\nhelp: {help}"))
    }

    /// Lines below the help. Only the refusal of a confirmation has any: the table it is computed from.
    pub fn with_table(mut self, table: &str) -> Self {
        self.0.push_str(table);
        self
    }
}

/// Collects every mistake, so that a function with three of them is shown three.
#[derive(Default)]
pub struct Sink {
    errors: Vec<syn::Error>,
}

impl Sink {
    /// Reports a problem at exactly these tokens, which must be the author's own.
    pub fn report(&mut self, at: impl ToTokens, problem: Problem) {
        self.errors.push(syn::Error::new_spanned(at, problem.0));
    }

    pub const fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// How many there are: the difference tells whether a part of the work reported any.
    pub const fn len(&self) -> usize {
        self.errors.len()
    }

    pub fn into_tokens(self) -> TokenStream {
        self.errors.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// `a`, `b` or `c`, each in backticks.
pub fn any_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [most @ .., last] => {
            let most: Vec<_> = most.iter().map(|word| format!("`{word}`")).collect();
            format!("{} or `{last}`", most.join(", "))
        }
    }
}

/// The word of `known` that `written` was probably meant to be.
pub fn nearest<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let written = plain(written);
    let allowance = (written.chars().count() / 3).clamp(1, 3);
    known
        .iter()
        .map(|word| (plain(word), *word))
        .filter(|(plain, _)| is_within(&written, plain, allowance))
        .map(|(plain, word)| (distance(&written, &plain), word))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Whether two words are at most so many changes apart. Macros are compiled without optimisation as a rule, and every
/// capability of a crate comes by here: two lengths say most of it.
pub fn is_within(a: &str, b: &str, most: usize) -> bool {
    a.chars().count().abs_diff(b.chars().count()) <= most && distance(a, b) <= most
}

/// How many letters must be changed, added, removed or swapped with their neighbour.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // Three rows of the table are enough: the one being filled, the one above it, and one more for swaps.
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous: Option<char> = None;
    for (row, letter) in a.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&last, column) + usize::from(letter != *other))
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            let swapped = column > 0 && b.get(column - 1) == Some(&letter) && previous == Some(*other);
            if swapped {
                best = best.min(at(&before_last, column - 1) + 1);
            }
            current.push(best);
        }
        before_last = core::mem::replace(&mut last, current);
        previous = Some(letter);
    }
    last.last().copied().unwrap_or(0)
}
