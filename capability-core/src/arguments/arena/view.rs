//! How a check sees an arena.

use super::{Arena, Entry, FEW, Item, Span};
use crate::contract::schema::check::{self, Digits, Shape};

/// One value and where its parts lie.
#[derive(Clone, Copy)]
pub(in super::super) struct View<'a> {
    pub(super) arena: &'a Arena<'a>,
    pub(super) item: &'a Item<'a>,
}

/// The entries of an object or a list.
#[derive(Clone, Copy)]
pub(in super::super) struct Entries<'a> {
    pub(super) arena: &'a Arena<'a>,
    pub(super) entries: &'a [Entry<'a>],
}

impl Arena<'_> {
    /// The whole of it.
    pub(in super::super) const fn view(&self) -> View<'_> {
        View { arena: self, item: &self.root }
    }
}

impl<'a> View<'a> {
    #[inline]
    pub(super) fn entries(self, span: Span) -> Entries<'a> {
        Entries { arena: self.arena, entries: self.arena.inside(span) }
    }
}

impl<'a> Entries<'a> {
    /// Each entry with its key, which is empty in a list.
    #[inline]
    pub(super) fn each(self) -> impl Iterator<Item = (&'a str, View<'a>)> + use<'a> {
        let Self { arena, entries } = self;
        entries.iter().map(|Entry { key, item }| (key.within(&arena.unescaped), View { arena, item }))
    }

    #[inline]
    pub(super) fn find(self, wanted: &str) -> Option<View<'a>> {
        let Self { arena, entries } = self;
        let name = |entry: &'a Entry<'a>| entry.key.within(&arena.unescaped);
        let entry = if entries.len() <= FEW {
            entries.iter().find(|entry| name(entry) == wanted)?
        } else {
            entries.get(entries.binary_search_by(|entry| entry.key.within(&arena.unescaped).cmp(wanted)).ok()?)?
        };
        Some(View { arena, item: &entry.item })
    }
}

impl<'a> check::View<'a> for View<'a> {
    type List = Entries<'a>;
    type Object = Entries<'a>;

    #[inline]
    fn shape(self) -> Shape<'a, Self> {
        match self.item {
            Item::Null => Shape::Null,
            Item::Bool(value) => Shape::Bool(*value),
            Item::Natural(natural) => Shape::Number(Digits::Natural(*natural)),
            Item::Negative(negative) => Shape::Number(Digits::Negative(*negative)),
            Item::Double(double) => Shape::Number(Digits::Double(*double)),
            Item::Text(text) => Shape::Text(text.within(&self.arena.unescaped)),
            Item::List(span) => Shape::List(self.entries(*span)),
            Item::Object(span) => Shape::Object(self.entries(*span)),
        }
    }
}

impl<'a> check::List<'a> for Entries<'a> {
    type View = View<'a>;

    #[inline]
    fn length(self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn items(self) -> impl Iterator<Item = View<'a>> {
        self.each().map(|(_, item)| item)
    }
}

impl<'a> check::Object<'a> for Entries<'a> {
    type View = View<'a>;

    #[inline]
    fn length(self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn members(self) -> impl Iterator<Item = (&'a str, View<'a>)> {
        self.each()
    }

    #[inline]
    fn member(self, name: &str) -> Option<View<'a>> {
        self.find(name)
    }
}
