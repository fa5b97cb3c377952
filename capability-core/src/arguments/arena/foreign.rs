//! How a general validator sees an arena.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object, cmp};
use serde_json::{Map, Number, Value};

use super::view::{Entries, View};
use super::{Arena, Item, Text};
use crate::contract::schema::check::{self, Digits, Shape};

/// Arenas as a representation of JSON.
pub(in super::super) struct Arenas;

impl Json for Arenas {
    type Node<'a> = View<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = ();

    // A lookup compares keys, as it does in a tree.
    const KEYS_PER_LOOKUP: usize = 2;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(View<'_>) -> T) -> T {
        let root = Item::Text(Text::Written(string));
        f(Arena { entries: Vec::new(), unescaped: String::new(), root, rounded: false, canonical: false }.view())
    }
}

impl<'a> View<'a> {
    fn str(self) -> Option<&'a str> {
        match check::View::shape(self) {
            Shape::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'a> Node<'a, Arenas> for View<'a> {
    type Object = Entries<'a>;
    type Array = Entries<'a>;
    type Number = Digits;

    #[inline]
    fn as_object(&self) -> Option<Entries<'a>> {
        match self.item {
            Item::Object(span) => Some(self.entries(*span)),
            _ => None,
        }
    }

    #[inline]
    fn as_array(&self) -> Option<Entries<'a>> {
        match self.item {
            Item::List(span) => Some(self.entries(*span)),
            _ => None,
        }
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.str().map(Cow::Borrowed)
    }

    #[inline]
    fn as_number(&self) -> Option<Digits> {
        match self.item {
            Item::Natural(natural) => Some(Digits::Natural(*natural)),
            Item::Negative(negative) => Some(Digits::Negative(*negative)),
            Item::Double(double) => Some(Digits::Double(*double)),
            _ => None,
        }
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        match self.item {
            Item::Bool(value) => Some(*value),
            _ => None,
        }
    }

    #[inline]
    fn is_null(&self) -> bool {
        matches!(self.item, Item::Null)
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        match self.item {
            Item::Null => JsonType::Null,
            Item::Bool(_) => JsonType::Boolean,
            Item::Natural(_) | Item::Negative(_) | Item::Double(_) => JsonType::Number,
            Item::Text(_) => JsonType::String,
            Item::List(_) => JsonType::Array,
            Item::Object(_) => JsonType::Object,
        }
    }

    #[inline]
    fn string_length_within(&self, min: u64, max: u64) -> Option<bool> {
        let text = self.str()?;
        // A character takes one to four bytes: most lengths are decided without counting.
        let (fewest, most) = (text.len().div_ceil(4) as u64, text.len() as u64);
        Some(if most < min || fewest > max {
            false
        } else {
            (min <= fewest && most <= max) || (min..=max).contains(&(text.chars().count() as u64))
        })
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self.item, expected) {
            (Item::Null, Value::Null) => true,
            (Item::Bool(value), Value::Bool(expected)) => value == expected,
            (Item::Text(_), Value::String(expected)) => self.str() == Some(expected),
            (Item::List(span), Value::Array(expected)) => {
                let items = self.entries(*span);
                items.entries.len() == expected.len()
                    && items.elements().zip(expected).all(|(item, expected)| item.equals_value(expected))
            }
            (Item::Object(span), Value::Object(expected)) => {
                let object = self.entries(*span);
                object.entries.len() == expected.len()
                    && object
                        .members()
                        .all(|(name, item)| expected.get(name).is_some_and(|expected| item.equals_value(expected)))
            }
            (_, Value::Number(expected)) => {
                self.as_number().is_some_and(|number| cmp::equal_numbers(&number, expected))
            }
            _ => false,
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(match self.item {
            Item::Null => Value::Null,
            Item::Bool(value) => Value::Bool(*value),
            Item::Natural(natural) => Value::from(*natural),
            Item::Negative(negative) => Value::from(*negative),
            Item::Double(double) => Value::from(*double),
            Item::Text(_) => Value::from(self.str().unwrap_or_default()),
            Item::List(span) => self.entries(*span).elements().map(|item| item.to_value().into_owned()).collect(),
            Item::Object(span) => {
                let members = self.entries(*span).members();
                let members: Map<String, Value> =
                    members.map(|(name, item)| (name.to_owned(), item.to_value().into_owned())).collect();
                Value::Object(members)
            }
        })
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        // Every value lies at a place of its own, and nothing moves once an arena is built.
        Some(NodeIdentity::new(core::ptr::from_ref(self.item).addr()))
    }
}

impl<'a> Object<'a, Arenas> for Entries<'a> {
    type Node = View<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn get(&self, key: &Box<str>) -> Option<View<'a>> {
        self.find(key)
    }

    #[inline]
    fn members(&self) -> Members<'a> {
        Members { around: *self, at: 0 }
    }
}

impl<'a> Array<'a, Arenas> for Entries<'a> {
    type Node = View<'a>;
    type ElementsIter = Elements<'a>;

    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn elements(&self) -> Elements<'a> {
        Elements(self.members())
    }
}

/// The members of an object.
pub(in super::super) struct Members<'a> {
    around: Entries<'a>,
    at: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, View<'a>);

    #[inline]
    fn next(&mut self) -> Option<(&'a str, View<'a>)> {
        let entry = self.around.entries.get(self.at)?;
        self.at += 1;
        let arena = self.around.arena;
        Some((entry.key.within(&arena.unescaped), View { arena, item: &entry.item }))
    }
}

/// The items of a list.
pub(in super::super) struct Elements<'a>(Members<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = View<'a>;

    #[inline]
    fn next(&mut self) -> Option<View<'a>> {
        self.0.next().map(|(_, item)| item)
    }
}

impl JsonNumber for Digits {
    fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Natural(natural) => Some(*natural),
            Self::Negative(_) | Self::Double(_) => None,
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Natural(natural) => i64::try_from(*natural).ok(),
            Self::Negative(negative) => Some(*negative),
            Self::Double(_) => None,
        }
    }

    fn as_f64(&self) -> Option<f64> {
        Some(match self {
            Self::Natural(natural) => *natural as f64,
            Self::Negative(negative) => *negative as f64,
            Self::Double(double) => *double,
        })
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_number().to_string())
    }

    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(self.number())
    }

    fn is_integer(&self) -> bool {
        self.is_whole()
    }

    fn is_written_as_integer(&self) -> bool {
        self.to_number().is_written_as_integer()
    }
}
