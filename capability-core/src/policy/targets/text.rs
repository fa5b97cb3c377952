//! Patterns over the characters of a text.

use super::super::mistake::Mistake;
use super::shown;

/// The longest text pattern, in bytes.
pub const MAX_TEXT_BYTES: usize = 512;

/// A text with `*` for anything, of any length: slashes, blanks and line breaks too. Everything else is itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TextPattern {
    first: Box<str>,
    /// What stands between wildcards, and after the last one; empty when there is no wildcard.
    after: Box<[Box<str>]>,
}

impl TextPattern {
    /// A pattern of 1 to [`MAX_TEXT_BYTES`] bytes.
    ///
    /// # Errors
    /// [`Mistake`] for an empty or a longer one.
    pub fn new(written: &str) -> Result<Self, Mistake> {
        if written.is_empty() || written.len() > MAX_TEXT_BYTES {
            return Err(Mistake::new(
                format!("the text `{}` has {} bytes: it has 1 to {MAX_TEXT_BYTES}", shown(written), written.len()),
                "write what must occur, with `*` for anything around it",
            ));
        }
        let mut pieces = written.split('*');
        let first = pieces.next().unwrap_or_default().into();
        let mut after: Vec<Box<str>> = pieces.map(Into::into).collect();
        // Wildcards side by side are one.
        if let Some(last) = after.pop() {
            after.retain(|piece| !piece.is_empty());
            after.push(last);
        }
        Ok(Self { first, after: after.into() })
    }

    /// Whether it matches one text and no other.
    #[must_use]
    pub const fn is_literal(&self) -> bool {
        self.after.is_empty()
    }

    /// What stands before, between and after its wildcards: one piece for each wildcard and one more. The first and the last
    /// may be empty and are bound to the text's ends.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        core::iter::once(&*self.first).chain(self.after.iter().map(|piece| &**piece))
    }

    /// Whether it matches this text. The time it takes grows with the text's length and not faster.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let Some((last, between)) = self.after.split_last() else { return *text == *self.first };
        let Some(mut rest) = text.strip_prefix(&*self.first) else { return false };
        for piece in between {
            let Some(at) = rest.find(&**piece) else { return false };
            rest = rest.get(at + piece.len()..).unwrap_or_default();
        }
        rest.ends_with(&**last)
    }

    /// Whether everything that `other` matches is matched here too. Exact.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        // What fills a wildcard of `other` can be a text that occurs in no pattern, so only a wildcard here can take it: a
        // character that neither pattern has stands for it.
        let Some(stranger) = ('\u{e000}'..='\u{f8ff}').find(|c| self.lacks(*c) && other.lacks(*c)) else {
            return false;
        };
        let filled = other.pieces().collect::<Vec<_>>().join(stranger.encode_utf8(&mut [0; 4]));
        self.matches(&filled)
    }

    fn lacks(&self, character: char) -> bool {
        !self.pieces().any(|piece| piece.contains(character))
    }

    /// Whether some text may be matched by both. Never a false no.
    pub(super) fn may_overlap(&self, other: &Self) -> bool {
        match (self.is_literal(), other.is_literal()) {
            (true, _) => other.matches(&self.first),
            (_, true) => self.matches(&other.first),
            (false, false) => {
                let alike = |one: &str, another: &str| one.starts_with(another) || another.starts_with(one);
                let ends = |one: &str, another: &str| one.ends_with(another) || another.ends_with(one);
                let last = |pattern: &Self| pattern.after.last().map_or(String::new(), |piece| piece.to_string());
                alike(&self.first, &other.first) && ends(&last(self), &last(other))
            }
        }
    }
}
