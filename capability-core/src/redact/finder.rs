//! Where forms of values stand in bytes.
//!
//! Most of a text holds none. A form has at least eight bytes, so that one of every five places, looked at with four bytes each,
//! shows one of the first places of any form that begins there: only around such places the automaton is run.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use hashbrown::HashMap;

use super::forms::{MAX_BREAKS, is_break};
use super::{Failed, MARK, MIN_REDACTED_BYTES};

/// How many bytes are looked at together.
const GRAM: usize = 4;
/// How far apart those places are: each form that begins anywhere has one among its first bytes.
const STRIDE: usize = MIN_REDACTED_BYTES - GRAM + 1;
/// After so many bytes the automaton is left when little of a form has been read.
const LEAVE: usize = 8;
/// What is little.
const LITTLE: usize = 3;

/// An automaton over every form.
pub(super) struct Finder {
    forms: NFA,
    start: StateID,
    /// How many bytes of a form have been read in each state: as many of a text could go on to be one.
    read: HashMap<StateID, usize>,
    grams: Grams,
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
        let (mut read, mut grams) = (HashMap::new(), Grams::new());
        for form in forms {
            // Whatever is shorter could begin unseen.
            let first = form.get(..MIN_REDACTED_BYTES).ok_or(Failed)?;
            first.windows(GRAM).for_each(|gram| grams.add(gram));
            let mut state = start;
            for (at, byte) in form.iter().enumerate() {
                state = nfa.next_state(Anchored::No, state, *byte);
                // The longest end of what was read that begins a form is all of it: it begins this one.
                read.insert(state, at + 1);
            }
        }
        Ok(Self { forms: nfa, start, read, grams })
    }

    /// Every place where a form stands, line breaks passed over, joined where they overlap or touch.
    pub fn spans(&self, text: &[u8]) -> Spans {
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut part = Part::default();
        let (mut at, mut open) = (0, text.len());
        while at <= text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let line = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
            part.add(at, rest.get(..line).unwrap_or_default());
            at += line;
            let breaks = text.get(at..).unwrap_or_default().iter().take_while(|byte| is_break(**byte)).count();
            let ends = at + breaks == text.len();
            if breaks > MAX_BREAKS || ends {
                let read = self.scan(part.bytes(), |span| join(&mut found, part.place(span)));
                if ends && breaks <= MAX_BREAKS && read > 0 {
                    open = part.at(part.bytes().len() - read);
                }
                part = Part::default();
            }
            at += breaks;
            if ends {
                break;
            }
        }
        Spans { found, open }
    }

    /// Tells every form in a text without line breaks, and gives how many bytes at its end could go on to be one.
    fn scan(&self, text: &[u8], mut found: impl FnMut(Range<usize>)) -> usize {
        // INVARIANT: what begins before it was told, and nothing that ends later begins before it.
        let mut from = 0;
        loop {
            let seen = self.grams.first_in(text, from);
            let mut at = match seen {
                Some(seen) => seen.saturating_sub(STRIDE - 1),
                // Nothing whole: only what is too short to have been looked at could be a beginning.
                None => text.len().saturating_sub(MIN_REDACTED_BYTES - 1),
            }
            .max(from);
            let leave = seen.map_or(text.len(), |seen| seen + LEAVE);
            let mut state = self.start;
            loop {
                let Some(byte) = text.get(at) else { return self.read(state) };
                state = self.forms.next_state(Anchored::No, state, *byte);
                at += 1;
                if self.forms.is_special(state) && self.forms.is_match(state) {
                    let longest = (0..self.forms.match_len(state))
                        .map(|nth| self.forms.pattern_len(self.forms.match_pattern(state, nth)))
                        .max();
                    found(at - longest.unwrap_or_default()..at);
                }
                if at >= leave && at < text.len() {
                    let read = self.read(state);
                    if read <= LITTLE {
                        from = at - read;
                        break;
                    }
                }
            }
        }
    }

    fn read(&self, state: StateID) -> usize {
        self.read.get(&state).copied().unwrap_or_default()
    }

    /// The text with every form replaced.
    pub fn text<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, Failed> {
        marked(text, self.spans(text.as_bytes()).found)
    }

    /// Texts that stand one behind the other. What stands over a seam is replaced on each side of it.
    pub fn texts<'t, T: AsRef<str>>(&self, texts: &'t [T]) -> Result<Vec<Cow<'t, str>>, Failed> {
        let whole: String = texts.iter().map(AsRef::as_ref).collect();
        let found = self.spans(whole.as_bytes()).found;
        let mut end = 0;
        let each = texts.iter().map(|text| {
            let begin = end;
            end += text.as_ref().len();
            let first = found.partition_point(|span| span.end <= begin);
            let within = found.iter().skip(first).take_while(|span| span.start < end);
            let own = within.map(|span| span.start.max(begin) - begin..span.end.min(end) - begin);
            // A text without a byte is over no seam.
            marked(text.as_ref(), own.filter(|span| !span.is_empty()))
        });
        each.collect()
    }
}

/// A text with a mark in the place of each of these parts of it, which are in order.
fn marked(text: &str, found: impl IntoIterator<Item = Range<usize>>) -> Result<Cow<'_, str>, Failed> {
    let mut found = found.into_iter().peekable();
    if found.peek().is_none() {
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

/// Which four bytes stand at the first places of forms, and some that do not.
struct Grams(Box<[u64; 1024]>);

impl Grams {
    fn new() -> Self {
        Self(Box::new([0; 1024]))
    }

    const fn bit(gram: [u8; GRAM]) -> (usize, u64) {
        let hash = u32::from_le_bytes(gram).wrapping_mul(0x9e37_79b1) >> 16;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }

    fn add(&mut self, gram: &[u8]) {
        if let Some(gram) = gram.first_chunk() {
            let (word, bit) = Self::bit(*gram);
            self.0.get_mut(word).into_iter().for_each(|word| *word |= bit);
        }
    }

    /// The first place from `from` on, in strides, at which one of them stands.
    fn first_in(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let (word, bit) = Self::bit(*text.get(at..)?.first_chunk()?);
            if self.0.get(word).is_some_and(|word| word & bit != 0) {
                return Some(at);
            }
            at += STRIDE;
        }
    }
}

/// Lines that belong together, without their breaks, and where each stands.
#[derive(Default)]
struct Part<'t> {
    /// While there is one line it lies where it lay.
    one: &'t [u8],
    several: Vec<u8>,
    /// Of each line where it begins here, and where in the text.
    lines: Vec<(usize, usize)>,
}

impl<'t> Part<'t> {
    fn add(&mut self, at: usize, line: &'t [u8]) {
        if line.is_empty() {
            return;
        }
        self.lines.push((self.bytes().len(), at));
        if self.lines.len() == 1 {
            self.one = line;
            return;
        }
        if self.several.is_empty() {
            self.several.extend_from_slice(self.one);
        }
        self.several.extend_from_slice(line);
    }

    fn bytes(&self) -> &[u8] {
        if self.several.is_empty() { self.one } else { &self.several }
    }

    /// Where a byte stands in the text.
    fn at(&self, here: usize) -> usize {
        let after = self.lines.partition_point(|(begins, _)| *begins <= here);
        let line = after.checked_sub(1).and_then(|line| self.lines.get(line));
        line.map_or(here, |(begins, at)| at + (here - begins))
    }

    /// Where a span stands in the text: from its first byte to its last.
    fn place(&self, span: Range<usize>) -> Range<usize> {
        self.at(span.start)..self.at(span.end.saturating_sub(1)) + 1
    }
}

/// Adds a span that ends last. It can begin before others that are there.
fn join(found: &mut Vec<Range<usize>>, mut span: Range<usize>) {
    while let Some(last) = found.pop_if(|last| last.end >= span.start) {
        span.start = span.start.min(last.start);
        span.end = span.end.max(last.end);
    }
    found.push(span);
}
