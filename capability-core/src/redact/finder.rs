//! Where forms of values stand in bytes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use hashbrown::HashMap;

use super::forms::{MAX_BREAKS, is_break};
use super::{Failed, MARK};

/// An automaton over every form.
pub(super) struct Finder {
    forms: NFA,
    start: StateID,
    /// How many bytes of a form have been read in each state: as many of a text could go on to be one.
    read: HashMap<StateID, usize>,
}

/// What stands in a text.
pub(super) struct Spans {
    /// Where forms stand, in order; none touches another.
    pub found: Vec<Range<usize>>,
    /// From where on the end of the text could go on to be a form; its length when it could not.
    pub open: usize,
}

impl Finder {
    pub fn new(forms: &BTreeSet<Vec<u8>>) -> Result<Self, Failed> {
        let nfa = NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(forms).map_err(|_| Failed)?;
        let start = nfa.start_state(Anchored::No).map_err(|_| Failed)?;
        let mut read = HashMap::new();
        for form in forms {
            let mut state = start;
            for (at, byte) in form.iter().enumerate() {
                state = nfa.next_state(Anchored::No, state, *byte);
                // The longest end of what was read that begins a form is all of it: it begins this one.
                read.insert(state, at + 1);
            }
        }
        Ok(Self { forms: nfa, start, read })
    }

    /// Every place where a form stands, line breaks passed over, joined where they overlap or touch.
    pub fn spans(&self, text: &[u8]) -> Spans {
        let mut found: Vec<Range<usize>> = Vec::new();
        let (mut state, mut breaks) = (self.start, 0);
        for (at, byte) in text.iter().enumerate() {
            if is_break(*byte) {
                breaks += 1;
                if breaks > MAX_BREAKS {
                    state = self.start;
                }
                continue;
            }
            breaks = 0;
            state = self.forms.next_state(Anchored::No, state, *byte);
            if self.forms.is_special(state) && self.forms.is_match(state) {
                let longest = (0..self.forms.match_len(state))
                    .map(|nth| self.forms.pattern_len(self.forms.match_pattern(state, nth)))
                    .max();
                join(&mut found, begun(text, at + 1, longest.unwrap_or_default())..at + 1);
            }
        }
        let read = self.read.get(&state).copied().unwrap_or_default();
        Spans { found, open: begun(text, text.len(), read) }
    }

    /// The text with every form replaced.
    pub fn text<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, Failed> {
        let found = self.spans(text.as_bytes()).found;
        if found.is_empty() {
            return Ok(Cow::Borrowed(text));
        }
        let mut redacted = String::with_capacity(text.len());
        let mut at = 0;
        for span in found {
            // A form begins and ends between two characters: both it and the text are UTF-8.
            redacted.push_str(text.get(at..span.start).ok_or(Failed)?);
            redacted.push_str(MARK);
            at = span.end;
        }
        redacted.push_str(text.get(at..).ok_or(Failed)?);
        Ok(Cow::Owned(redacted))
    }
}

/// Where the last `most` bytes before `end` begin, line breaks not counted.
fn begun(text: &[u8], end: usize, most: usize) -> usize {
    let before = text.get(..end).unwrap_or_default().iter().enumerate().rev();
    before.filter(|(_, byte)| !is_break(**byte)).take(most).last().map_or(end, |(at, _)| at)
}

/// Adds a span that ends last. It can begin before others that are there.
fn join(found: &mut Vec<Range<usize>>, mut span: Range<usize>) {
    while let Some(last) = found.pop_if(|last| last.end >= span.start) {
        span.start = span.start.min(last.start);
    }
    found.push(span);
}
