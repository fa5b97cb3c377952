//! JSON in one piece of memory: what is called most often is checked without building a tree.
//!
//! Entries of all objects and lists lie in one vector, texts stay where they were written unless they hold an escape, and
//! nothing of it is freed one by one. It says yes or nothing: whatever it does not take is parsed again into a tree, which
//! finds the words for the refusal and has the last word.

mod build;
#[cfg(feature = "jsonschema")]
mod foreign;
mod room;
mod scan;
mod view;
mod write;

pub(super) use build::{arguments, plain};
#[cfg(feature = "jsonschema")]
pub(super) use foreign::Arenas;

/// Up to how many entries an object is searched one by one.
const FEW: usize = 8;

/// A parsed text.
#[derive(Debug)]
pub(super) struct Arena<'t> {
    entries: Vec<Entry<'t>>,
    /// Texts that had escapes, one after the other.
    unescaped: String,
    root: Item<'t>,
    /// Whether a whole number was written as a fraction or with an exponent.
    pub(super) rounded: bool,
    /// Whether the text is canonical as it was written.
    pub(super) canonical: bool,
}

/// One entry of an object, or of a list with an empty key.
#[derive(Debug, Clone, Copy)]
struct Entry<'t> {
    key: Text<'t>,
    item: Item<'t>,
}

/// One value.
#[derive(Debug, Clone, Copy)]
enum Item<'t> {
    Null,
    Bool(bool),
    Natural(u64),
    /// Below zero.
    Negative(i64),
    Double(f64),
    Text(Text<'t>),
    List(Span),
    /// Each key stands there once. Entries are sorted bytewise by their keys, except the few of a result's small object.
    Object(Span),
}

/// A text.
#[derive(Debug, Clone, Copy)]
enum Text<'t> {
    /// As it was written: it holds nothing that needs an escape.
    Written(&'t str),
    /// A part of [`Arena::unescaped`].
    Unescaped(Span),
}

/// A part of a vector.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: u32,
    length: u32,
}

impl Span {
    fn of(from: usize, length: usize) -> Option<Self> {
        Some(Self { from: u32::try_from(from).ok()?, length: u32::try_from(length).ok()? })
    }

    const fn range(self) -> core::ops::Range<usize> {
        // Indices of 32 bits fit wherever this runs.
        self.from as usize..self.from as usize + self.length as usize
    }
}

impl Text<'_> {
    #[inline]
    fn within<'a>(&'a self, unescaped: &'a str) -> &'a str {
        match self {
            Self::Written(text) => text,
            Self::Unescaped(span) => unescaped.get(span.range()).unwrap_or_default(),
        }
    }
}

impl<'t> Arena<'t> {
    #[inline]
    fn inside(&self, span: Span) -> &[Entry<'t>] {
        self.entries.get(span.range()).unwrap_or_default()
    }

    /// Lets go of it, and keeps its room for the next one.
    pub(super) fn done(self) {
        room::keep(self.entries);
    }

    /// True for an object.
    pub(super) const fn is_object(&self) -> bool {
        matches!(self.root, Item::Object(_))
    }
}

#[cfg(test)]
#[cfg(feature = "jsonschema")]
mod conformance;
#[cfg(test)]
mod tests;
