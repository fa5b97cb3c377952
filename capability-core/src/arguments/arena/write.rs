//! From an arena to the canonical text, with what the schema fills in.

use core::cmp::Ordering;

use super::super::canonical::{put_digits, put_double, put_string};
use super::super::defaults::{Defaults, MAX_FILLED_BYTES, Missing, Place};
use super::{Arena, Entry, Item, Text};
use crate::contract::schema::check::Digits;

impl Arena<'_> {
    /// The canonical text, completed by `defaults`, into a buffer of about the right size. None when there are too many.
    pub(in super::super) fn canonical(&self, defaults: &Defaults, expected: usize) -> Option<Vec<u8>> {
        let text = Vec::with_capacity(expected.max(32));
        let mut writer = Writer { arena: self, places: &defaults.places, left: MAX_FILLED_BYTES, text };
        writer.item(&self.root, defaults.root)?;
        Some(writer.text)
    }
}

struct Writer<'a> {
    arena: &'a Arena<'a>,
    places: &'a [Place],
    /// How many bytes of defaults may still be filled in.
    left: usize,
    text: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn item(&mut self, item: &Item<'a>, place: Option<usize>) -> Option<()> {
        match item {
            Item::Null => self.text.extend_from_slice(b"null"),
            Item::Bool(true) => self.text.extend_from_slice(b"true"),
            Item::Bool(false) => self.text.extend_from_slice(b"false"),
            Item::Natural(natural) => put_digits(&mut self.text, *natural),
            Item::Negative(negative) => {
                self.text.push(b'-');
                put_digits(&mut self.text, negative.unsigned_abs());
            }
            Item::Double(double) => put_double(&mut self.text, &Digits::Double(*double).number()),
            Item::Text(text) => self.string(text),
            Item::List(span) => {
                let place = place.and_then(|place| self.places.get(place));
                self.text.push(b'[');
                for (index, entry) in self.arena.inside(*span).iter().enumerate() {
                    if index > 0 {
                        self.text.push(b',');
                    }
                    self.item(&entry.item, place.and_then(|place| place.item(index)))?;
                }
                self.text.push(b']');
            }
            Item::Object(span) => {
                let entries = self.arena.inside(*span);
                self.text.push(b'{');
                match place.and_then(|place| self.places.get(place)) {
                    None => self.entries(entries)?,
                    Some(place) => self.completed(entries, place)?,
                }
                self.text.push(b'}');
            }
        }
        Some(())
    }

    fn entries(&mut self, entries: &[Entry<'a>]) -> Option<()> {
        for (index, entry) in entries.iter().enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            self.string(&entry.key);
            self.text.push(b':');
            self.item(&entry.item, None)?;
        }
        Some(())
    }

    /// Entries and the defaults of those left out: both are sorted, and so is what is written.
    fn completed(&mut self, entries: &[Entry<'a>], place: &'a Place) -> Option<()> {
        let (mut entries, mut missing) = (entries.iter().peekable(), place.missing.iter().peekable());
        let mut first = true;
        loop {
            let order = match (entries.peek(), missing.peek()) {
                (None, None) => return Some(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(entry), Some(missing)) => entry.key.within(&self.arena.unescaped).cmp(missing.name.as_str()),
            };
            if !core::mem::take(&mut first) {
                self.text.push(b',');
            }
            if order == Ordering::Greater {
                self.missing(missing.next()?)?;
                continue;
            }
            if order == Ordering::Equal {
                missing.next();
            }
            let Entry { key, item } = entries.next()?;
            self.string(key);
            self.text.push(b':');
            self.item(item, place.property(key.within(&self.arena.unescaped)))?;
        }
    }

    fn missing(&mut self, missing: &Missing) -> Option<()> {
        self.left = self.left.checked_sub(missing.bytes)?;
        put_string(&mut self.text, &missing.name);
        self.text.push(b':');
        self.text.extend_from_slice(&missing.text);
        Some(())
    }

    #[inline]
    fn string(&mut self, text: &Text<'a>) {
        match text {
            Text::Written(text) => {
                self.text.push(b'"');
                self.text.extend_from_slice(text.as_bytes());
                self.text.push(b'"');
            }
            Text::Unescaped(_) => put_string(&mut self.text, text.within(&self.arena.unescaped)),
        }
    }
}
