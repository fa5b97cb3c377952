//! From a text to an arena.
//!
//! The grammar is JSON's, read by hand because texts are borrowed and nothing is said about mistakes. Escapes and numbers
//! that are more than a few digits are given to `serde_json`, so that they mean what they mean to the tree.

use super::super::parse::{MAX_EXACT, OBJECT_BYTES};
use super::super::reader::MAX_TREE_BYTES;
use super::super::{MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH};
use super::{Arena, Entry, FEW, Item, Span, Text};
use super::{room, scan};

/// How deep a result nests: as deep as the tree's parser goes.
const MAX_RESULT_DEPTH: usize = 127;

/// Parses arguments by their rules. None for whatever is to be refused, and for the few whose whole numbers are too large
/// to be exact: those are judged by more than their schema.
pub(in super::super) fn arguments(raw: &[u8]) -> Option<Arena<'_>> {
    if raw.len() > MAX_ARGUMENT_BYTES {
        return None;
    }
    parse::<true>(core::str::from_utf8(raw).ok()?)
}

/// Parses any JSON. None for what is none, and for objects that name a key twice.
pub(in super::super) fn plain(text: &str) -> Option<Arena<'_>> {
    parse::<false>(text)
}

fn parse<const STRICT: bool>(text: &str) -> Option<Arena<'_>> {
    let mut builder = Builder::<STRICT> {
        text,
        at: 0,
        open: Vec::new(),
        entries: Vec::new(),
        unescaped: String::new(),
        tree: 0,
        rounded: false,
        canonical: true,
    };
    let first = builder.next()?;
    let root = builder.value(first, 0)?;
    if builder.next().is_some() {
        return None;
    }
    let Builder { open, entries, unescaped, rounded, canonical, .. } = builder;
    room::keep(open);
    Some(Arena { entries, unescaped, root, rounded, canonical })
}

/// An arena that grows. With `STRICT`, by the rules of arguments.
struct Builder<'t, const STRICT: bool> {
    text: &'t str,
    /// How much of the text is read.
    at: usize,
    /// Entries of objects and lists that have not ended, the innermost last.
    open: Vec<Entry<'t>>,
    entries: Vec<Entry<'t>>,
    unescaped: String,
    /// What the same value would take as a tree: both ways of parsing accept the same texts.
    tree: usize,
    rounded: bool,
    canonical: bool,
}

impl<'t, const STRICT: bool> Builder<'t, STRICT> {
    const MAX_DEPTH: usize = if STRICT { MAX_ARGUMENT_DEPTH } else { MAX_RESULT_DEPTH };

    /// Reads the next byte that is no white space.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            self.at += 1;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.canonical = false;
        }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn charge(&mut self, bytes: usize) -> Option<()> {
        self.tree = self.tree.saturating_add(bytes);
        (!STRICT || self.tree <= MAX_TREE_BYTES).then_some(())
    }

    /// The value that begins with `first`, `depth` levels down.
    fn value(&mut self, first: u8, depth: usize) -> Option<Item<'t>> {
        match first {
            b'"' => self.string().map(Item::Text),
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"rue", Item::Bool(true)),
            b'f' => self.word(b"alse", Item::Bool(false)),
            b'n' => self.word(b"ull", Item::Null),
            _ => None,
        }
    }

    fn word(&mut self, rest: &[u8], item: Item<'t>) -> Option<Item<'t>> {
        self.rest().starts_with(rest).then(|| self.at += rest.len())?;
        Some(item)
    }

    /// A text whose quote is read.
    #[inline]
    fn string(&mut self) -> Option<Text<'t>> {
        let from = self.at;
        let to = from + scan::plain(self.rest());
        if self.text.as_bytes().get(to) != Some(&b'"') {
            return self.unescaped(from, to);
        }
        self.at = to + 1;
        self.charge(to - from)?;
        // No control character stands in it, so no NUL does.
        self.text.get(from..to).map(Text::Written)
    }

    /// A text that begins at `from` and has an escape, or an end of its own, at `to`.
    #[cold]
    fn unescaped(&mut self, from: usize, to: usize) -> Option<Text<'t>> {
        let bytes = self.text.as_bytes();
        let mut end = to;
        loop {
            end += match bytes.get(end)? {
                b'"' => break,
                b'\\' => 2,
                _ => 1,
            };
        }
        self.at = end + 1;
        let text: String = serde_json::from_str(self.text.get(from.checked_sub(1)?..=end)?).ok()?;
        if STRICT && text.contains('\0') {
            return None;
        }
        self.charge(text.len())?;
        self.canonical = false;
        let span = Span::of(self.unescaped.len(), text.len())?;
        self.unescaped.push_str(&text);
        Some(Text::Unescaped(span))
    }

    /// A number whose first byte is read.
    fn number(&mut self) -> Option<Item<'t>> {
        let from = self.at.checked_sub(1)?;
        let literal = scan::number(self.text.get(from..)?);
        self.at = from + literal.len();
        if let Some(natural) = scan::natural(literal.as_bytes()) {
            return Some(Item::Natural(natural));
        }
        if let Some(below) = literal.strip_prefix('-').and_then(|digits| scan::natural(digits.as_bytes()))
            && below > 0
        {
            return i64::try_from(below).ok().map(|below| Item::Negative(-below));
        }
        let number: serde_json::Number = serde_json::from_str(literal).ok()?;
        match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(natural), _, _) => Some(Item::Natural(natural)),
            (None, Some(negative), _) => Some(Item::Negative(negative)),
            (None, None, double) => self.double(double?),
        }
    }

    fn double(&mut self, double: f64) -> Option<Item<'t>> {
        self.canonical = false;
        if !STRICT || double.fract() != 0.0 {
            return Some(Item::Double(double));
        }
        if double.abs() > MAX_EXACT {
            return None;
        }
        // Within the range in which a double is exactly the integer it looks like, so the cast is exact too.
        self.rounded = true;
        let whole = double as i64;
        Some(u64::try_from(whole).map_or(Item::Negative(whole), Item::Natural))
    }

    /// Where the entries of what begins now are open.
    #[inline]
    fn begin(&mut self, depth: usize) -> usize {
        if depth == 0 {
            // An entry takes a dozen bytes of text and more.
            self.open = room::take((self.text.len() / 12).clamp(4, 64));
        }
        self.open.len()
    }

    fn list(&mut self, depth: usize) -> Option<Item<'t>> {
        if depth >= Self::MAX_DEPTH {
            return None;
        }
        let start = self.begin(depth);
        let mut first = self.next()?;
        if first != b']' {
            loop {
                let item = self.value(first, depth + 1)?;
                self.open.push(Entry { key: Text::Written(""), item });
                match self.next()? {
                    b',' => first = self.next()?,
                    b']' => break,
                    _ => return None,
                }
            }
        }
        self.close(start, depth).map(Item::List)
    }

    fn object(&mut self, depth: usize) -> Option<Item<'t>> {
        if depth >= Self::MAX_DEPTH {
            return None;
        }
        let start = self.begin(depth);
        let mut first = self.next()?;
        if first != b'}' {
            self.charge(OBJECT_BYTES)?;
            loop {
                if first != b'"' {
                    return None;
                }
                let key = self.string()?;
                if self.next()? != b':' {
                    return None;
                }
                let first_of_value = self.next()?;
                let item = self.value(first_of_value, depth + 1)?;
                self.open.push(Entry { key, item });
                match self.next()? {
                    b',' => first = self.next()?,
                    b'}' => break,
                    _ => return None,
                }
            }
            self.sort(start)?;
        }
        self.close(start, depth).map(Item::Object)
    }

    /// Sorts the entries of an object that has ended. None when a key stands there twice.
    fn sort(&mut self, start: usize) -> Option<()> {
        let Self { open, unescaped, .. } = self;
        let entries = open.get_mut(start..)?;
        if !STRICT && entries.len() <= FEW {
            // Nothing of it is written, and so few are found without an order.
            let mut others = &*entries;
            while let Some((one, rest)) = others.split_first() {
                let key = one.key.within(unescaped);
                if rest.iter().any(|other| other.key.within(unescaped) == key) {
                    return None;
                }
                others = rest;
            }
            return Some(());
        }
        let before = |one: &Entry<'_>, next: &Entry<'_>| one.key.within(unescaped) < next.key.within(unescaped);
        if entries.is_sorted_by(before) {
            return Some(());
        }
        self.canonical = false;
        entries.sort_unstable_by(|one, other| one.key.within(unescaped).cmp(other.key.within(unescaped)));
        entries.is_sorted_by(before).then_some(())
    }

    /// Takes the open entries from `start` on out of the way.
    fn close(&mut self, start: usize, depth: usize) -> Option<Span> {
        let count = self.open.len() - start;
        self.charge(count * size_of::<serde_json::Value>())?;
        let span = Span::of(self.entries.len(), count)?;
        if depth == 0 && self.entries.is_empty() {
            // Nothing was nested: what is open is all there is.
            core::mem::swap(&mut self.open, &mut self.entries);
            return Some(span);
        }
        if self.entries.capacity() == 0 {
            self.entries = room::take((self.text.len() / 20).max(count));
        }
        self.entries.extend_from_slice(self.open.get(start..).unwrap_or_default());
        self.open.truncate(start);
        Some(span)
    }
}
