//! What a parse notices on its way, and how its refusals are worded.

use core::cell::Cell;

use super::MAX_ARGUMENT_DEPTH;
use super::fault::{ArgumentCode, ArgumentFault};
use crate::contract::schema::pointer;

/// How much memory parsed arguments may take, roughly. A short text of many small objects unfolds to a hundred times
/// its length.
pub(super) const MAX_TREE_BYTES: usize = 32 * 1024 * 1024;

/// What one parse notices on its way.
#[derive(Default)]
pub(super) struct Reader {
    tree: Cell<usize>,
    /// Whether a whole number is too large to be an exact integer and stayed a double.
    pub(super) inexact: Cell<bool>,
    /// Whether a whole number was written as a fraction or with an exponent.
    pub(super) rounded: Cell<bool>,
    /// Our own refusal, which the parser's error type has no room for.
    refused: Cell<Option<Refused>>,
    /// The steps to the refused place, innermost first; collected only while a refusal unwinds.
    steps: Cell<Vec<String>>,
}

/// Our own refusals.
pub(super) enum Refused {
    TooLarge,
    TooDeep,
    Nul,
    Duplicate(String),
}

impl Reader {
    pub(super) fn charge<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        let tree = self.tree.get().saturating_add(bytes);
        self.tree.set(tree);
        if tree > MAX_TREE_BYTES { Err(self.refuse(Refused::TooLarge)) } else { Ok(()) }
    }

    pub(super) fn text<E: serde::de::Error>(&self, text: &str) -> Result<(), E> {
        if text.as_bytes().contains(&0) {
            return Err(self.refuse(Refused::Nul));
        }
        self.charge(text.len())
    }

    #[cold]
    pub(super) fn refuse<E: serde::de::Error>(&self, refused: Refused) -> E {
        self.refused.set(Some(refused));
        E::custom("refused")
    }

    #[cold]
    pub(super) fn step(&self, step: impl ToString) {
        let mut steps = self.steps.take();
        steps.push(step.to_string());
        self.steps.set(steps);
    }

    #[cold]
    pub(super) fn fault(&self, error: &serde_json::Error, raw: &[u8]) -> ArgumentFault {
        let mut place = String::new();
        for step in self.steps.take().iter().rev() {
            pointer::push(&mut place, step);
        }
        let place = if place.is_empty() { "the arguments".to_owned() } else { format!("`{place}`") };
        match self.refused.take() {
            Some(Refused::TooLarge) => ArgumentFault::new(
                ArgumentCode::TooLarge,
                format!("{place}: there are too many values in the arguments"),
                "send fewer, or name where the data is instead of sending it",
            ),
            Some(Refused::TooDeep) => ArgumentFault::new(
                ArgumentCode::TooDeep,
                format!("{place}: objects and lists nest at most {MAX_ARGUMENT_DEPTH} deep"),
                "send a flatter structure",
            ),
            Some(Refused::Nul) => ArgumentFault::new(
                ArgumentCode::ControlCharacter,
                format!("{place}: a text holds no NUL character"),
                "leave `\\u0000` out",
            ),
            Some(Refused::Duplicate(key)) => ArgumentFault::new(
                ArgumentCode::DuplicateKey,
                format!("{place}: the key `{}` stands there twice", super::suggest::shown(&key)),
                "send each key once; `\\u` escapes count as the character they stand for",
            ),
            None => malformed(&place, error, raw),
        }
    }
}

/// The parser's own refusals, with what would be right.
fn malformed(place: &str, error: &serde_json::Error, raw: &[u8]) -> ArgumentFault {
    let reason = error.to_string();
    let help = if raw.iter().all(u8::is_ascii_whitespace) {
        "send an object with the arguments, `{}` when there are none"
    } else if core::str::from_utf8(raw).is_err() {
        "send UTF-8"
    } else if reason.starts_with("number out of range") {
        "send a number that a double can hold, below 1.8e308"
    } else if reason.contains("surrogate") || reason.contains("hex escape") || reason.contains("escape") {
        "write a character outside the basic plane as itself, or as two `\\u` escapes that belong together"
    } else if reason.starts_with("trailing characters") {
        "send one JSON object and nothing after it"
    } else if reason.starts_with("control character") {
        "escape line breaks and tabs inside a text as `\\n` and `\\t`"
    } else if reason.starts_with("recursion limit") {
        return ArgumentFault::new(
            ArgumentCode::TooDeep,
            format!("{place}: objects and lists nest at most {MAX_ARGUMENT_DEPTH} deep"),
            "send a flatter structure",
        );
    } else if reason.starts_with("EOF") {
        "send the whole object: the text ends inside it"
    } else {
        "send JSON: double quotes around keys and texts, no comments, no trailing commas, no `NaN`"
    };
    ArgumentFault::new(ArgumentCode::Malformed, format!("{place}: the text is not JSON: {reason}"), help)
}
