//! Bytes that come in pieces.

use std::sync::Arc;

use super::finder::Spans;
use super::{Failed, Found, MARK, Redactor, WITHHELD, guarded};

/// The least of a value's beginning that is left out at the end of what was cut off: fewer bytes end any text.
const MIN_CUT: usize = 4;

/// Takes bytes in pieces and gives them on without the values. What could be the beginning of a value is held back until it is
/// known; never more than three times as many bytes as the longest form has.
///
/// Got from [`Redactor::stream`]. What it gives after [`finish`](Self::finish) is, all in all, what
/// [`Redactor::text`] would have given for the whole.
#[derive(Clone)]
pub struct RedactingStream {
    redactor: Arc<Redactor>,
    /// Not given on yet.
    held: Vec<u8>,
    /// How much at the beginning of `held` is behind a mark that was given on.
    covered: usize,
    /// Whether the last thing that was given on is a mark that goes up to `covered`.
    marked: bool,
    failed: bool,
}

impl RedactingStream {
    pub(super) const fn of(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Vec::new(), covered: 0, marked: false, failed: false }
    }

    /// Looks for what this one knows from here on, in what is held back too. What was given on stays as it was.
    pub fn renew(&mut self, redactor: Arc<Redactor>) {
        self.redactor = redactor;
    }

    /// Takes a piece, and adds to `out` what can be given on.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        self.advance(piece, None, out);
    }

    /// Gives on the rest: nothing comes after it.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.advance(&[], Some(usize::MAX), out);
    }

    /// Gives on the rest of what was cut off: what may be the beginning of a value is left out, from four bytes on.
    pub fn cut(mut self, out: &mut Vec<u8>) {
        self.advance(&[], Some(MIN_CUT), out);
    }

    #[cfg(test)]
    pub(super) const fn holds(&self) -> usize {
        self.held.len()
    }

    /// `end` says that nothing follows, and how long a beginning may not be.
    fn advance(&mut self, piece: &[u8], end: Option<usize>, out: &mut Vec<u8>) {
        if self.failed {
            return;
        }
        let spans = match &self.redactor.0 {
            Found::Nothing if self.held.is_empty() => {
                out.extend_from_slice(piece);
                return;
            }
            Found::Nothing => {
                self.held.extend_from_slice(piece);
                Ok(Spans { found: Vec::new(), open: self.held.len() })
            }
            Found::Broken => Err(Failed),
            Found::Values(finder) => {
                self.held.extend_from_slice(piece);
                guarded(|| Ok(finder.spans(&self.held)))
            }
        };
        let Ok(mut spans) = spans else {
            self.failed = true;
            self.held = Vec::new();
            out.extend_from_slice(WITHHELD.as_bytes());
            return;
        };
        let mut until = spans.open;
        if let Some(longest) = end {
            if self.held.len() - spans.open >= longest {
                let begins = spans.found.partition_point(|span| span.end < spans.open);
                let start = spans.found.get(begins).map_or(spans.open, |span| span.start.min(spans.open));
                spans.found.truncate(begins);
                spans.found.push(start..self.held.len());
            }
            until = self.held.len();
        }
        let mut at = self.covered;
        for span in spans.found.iter().take_while(|span| span.start < until) {
            if !(self.marked && span.start <= at) {
                out.extend_from_slice(self.held.get(at..span.start).unwrap_or_default());
                out.extend_from_slice(MARK.as_bytes());
                self.marked = true;
            }
            at = at.max(span.end);
        }
        if at < until {
            out.extend_from_slice(self.held.get(at..until).unwrap_or_default());
            (at, self.marked) = (until, false);
        }
        self.covered = at - until;
        self.held.drain(..until);
    }
}

impl core::fmt::Debug for RedactingStream {
    /// Without what is held.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "RedactingStream({} bytes held)", self.held.len())
    }
}
