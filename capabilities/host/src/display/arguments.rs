//! Arguments as rows, one value a row, from their exact text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::text::{Line, Reading, hides, is_deceptive, lines};

/// One value of a JSON text, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// How deep it stands; the outermost value at 0.
    pub depth: usize,
    /// Under which key.
    pub key: Key,
    /// What stands there.
    pub value: Value,
}

/// Where a value stands in the one around it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// It is the outermost one.
    Root,
    /// Under a name.
    Name(String),
    /// In a list, from 0 on.
    Index(usize),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Name(name) => f.write_str(name),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// What stands under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number, `true`, `false` or `null`, to the last digit as it was written.
    Literal(String),
    /// A text, its escapes resolved.
    Text(String),
    /// A list of so many; its items are the rows below.
    List(usize),
    /// An object of so many; its values are the rows below.
    Object(usize),
}

impl Value {
    /// How to read it.
    #[must_use]
    pub fn reading(&self) -> Reading {
        match self {
            // A single word may be a host or a path, whatever its key says.
            Self::Text(text) if text.contains(char::is_whitespace) => Reading::Prose,
            _ => Reading::Name,
        }
    }

    /// A text's lines, or the one line of anything else.
    #[must_use]
    pub fn lines(&self) -> Vec<Line<'_>> {
        match self {
            Self::Text(text) | Self::Literal(text) => lines(text, self.reading()),
            Self::List(_) | Self::Object(_) => Vec::new(),
        }
    }
}

/// The rows of a JSON text, outermost value first; `None` when it is none, or nested deeper than arguments can be.
///
/// Numbers stay as they were written: nothing is read into a double and shown rounded.
#[must_use]
pub fn rows(json: &str) -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    add(&mut rows, 0, Key::Root, &Node::read(json)?);
    Some(rows)
}

/// Whether somebody could be deceived by a key or a value, were it shown as it is; also when it is no JSON.
#[must_use]
pub fn are_deceptive(json: &str) -> bool {
    let named = |key: &Key| matches!(key, Key::Name(name) if is_deceptive(name, Reading::Name));
    rows(json).is_none_or(|rows| rows.iter().any(|row| named(&row.key) || hides(&row.value.lines())))
}

fn add(rows: &mut Vec<Row>, depth: usize, key: Key, node: &Node<'_>) {
    rows.push(Row { depth, key, value: node.value() });
    match node {
        Node::Literal(_) | Node::Text(_) => {}
        Node::List(items) => {
            for (index, item) in items.iter().enumerate() {
                add(rows, depth + 1, Key::Index(index), &item.node);
            }
        }
        Node::Object(entries) => {
            for (name, item) in entries {
                add(rows, depth + 1, Key::Name(name.clone()), &item.node);
            }
        }
    }
}

/// A JSON text taken apart, with the exact text of every part.
pub(super) enum Node<'t> {
    Literal(&'t str),
    Text(String),
    List(Vec<Item<'t>>),
    Object(Vec<(String, Item<'t>)>),
}

pub(super) struct Item<'t> {
    pub(super) text: &'t str,
    pub(super) node: Node<'t>,
}

/// Arguments are no deeper than this; neither is what is read here.
const MOST_LEVELS: usize = 64;

impl<'t> Node<'t> {
    pub(super) fn read(json: &'t str) -> Option<Self> {
        Self::at(serde_json::from_str::<&RawValue>(json).ok()?.get(), MOST_LEVELS)
    }

    fn at(text: &'t str, levels: usize) -> Option<Self> {
        let item = |raw: &'t RawValue| {
            let text = raw.get();
            Some(Item { text, node: Self::at(text, levels.checked_sub(1)?)? })
        };
        Some(match text.bytes().next()? {
            b'"' => Self::Text(serde_json::from_str(text).ok()?),
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                Self::List(items.into_iter().map(item).collect::<Option<_>>()?)
            }
            b'{' => {
                let Entries(entries) = serde_json::from_str(text).ok()?;
                let entries = entries.into_iter().map(|(name, raw)| Some((name, item(raw)?)));
                Self::Object(entries.collect::<Option<_>>()?)
            }
            _ => Self::Literal(text),
        })
    }

    pub(super) fn value(&self) -> Value {
        match self {
            Self::Literal(text) => Value::Literal((*text).to_owned()),
            Self::Text(text) => Value::Text(text.clone()),
            Self::List(items) => Value::List(items.len()),
            Self::Object(entries) => Value::Object(entries.len()),
        }
    }
}

/// The entries of an object in the order they were written.
struct Entries<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Entries<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;
        impl<'t> Visitor<'t> for Reading {
            type Value = Entries<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Entries<'t>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Reading)
    }
}
