//! Arguments from bytes that anybody may have written to bytes that a function is parsed from.
//!
//! Parsed strictly, checked against the exported schema, completed by its defaults, and written down in one canonical
//! form: what is approved, hashed and executed are those very bytes.

mod arena;
pub(crate) mod both_ways;
pub(crate) mod canonical;
mod choice;
mod defaults;
mod exact;
mod fault;
pub(crate) mod foreign;
#[cfg(feature = "jsonschema")]
mod general;
mod judge;
#[cfg(feature = "jsonschema")]
pub(crate) mod oracle;
mod parse;
mod property;
mod reader;
mod refusal;
mod suggest;
mod tree;
mod words;

pub use fault::{ArgumentCode, ArgumentFault, ResultFault};
pub use suggest::nearest;

use std::borrow::Cow;

use serde_json::Value;

use crate::contract::{SchemaFault, Schemas};
use arena::Arena;
use defaults::Defaults;
use judge::Judge;

/// The longest argument text, in bytes.
pub const MAX_ARGUMENT_BYTES: usize = 1024 * 1024;

/// How deep arguments nest: objects and lists inside one another.
pub const MAX_ARGUMENT_DEPTH: usize = 64;

/// Validated arguments: closed, completed, and in the one form that their values have. Its default is no text at all, which
/// no schema accepts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    bytes: Vec<u8>,
}

impl core::fmt::Debug for Arguments {
    /// Their size: a record or log that prints them holds nothing of them.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Arguments({} bytes)", self.bytes.len())
    }
}

impl Arguments {
    /// The canonical text: keys sorted bytewise, no white space, integers exact. Equal arguments have equal bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text of one argument by its name in the schema, as it stands in the canonical one.
    pub(crate) fn text_of(&self, name: &str) -> Option<&[u8]> {
        property::text_of(&self.bytes, name)
    }

    /// One argument by its name in the schema, defaults included. It is read from the text each time.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<Value> {
        property::of(&self.bytes, name)
    }
}

/// Everything compiled that checks one capability's arguments and results.
///
/// Made once, on a capability's first use: compiling costs a hundred times what checking does.
pub struct Validators {
    arguments: Judge,
    result: Judge,
    defaults: Defaults,
}

impl Validators {
    /// Compiles both documents.
    ///
    /// # Errors
    /// [`SchemaFault`] when one of them cannot be enforced.
    pub fn compile(schemas: &Schemas) -> Result<Self, SchemaFault> {
        Ok(Self {
            arguments: Judge::of(schemas.arguments())?,
            result: Judge::of(schemas.result())?,
            defaults: Defaults::of(schemas.arguments())?,
        })
    }

    /// Parses, checks and completes arguments.
    ///
    /// # Errors
    /// [`ArgumentFault`] with words for the caller and, apart, what may be recorded.
    pub fn arguments(&self, raw: &[u8]) -> Result<Arguments, ArgumentFault> {
        match self.canonical(raw) {
            Some(bytes) => Ok(Arguments { bytes: bytes.into_owned() }),
            None => self.arguments_by_tree(raw),
        }
    }

    /// The same, keeping a text that is canonical already.
    pub(crate) fn arguments_of(&self, mut raw: Vec<u8>) -> Result<Arguments, ArgumentFault> {
        match self.canonical(&raw) {
            Some(Cow::Borrowed(_)) => {
                // It may wait long for a person, and does not need room to grow.
                raw.shrink_to_fit();
                Ok(Arguments { bytes: raw })
            }
            Some(Cow::Owned(bytes)) => Ok(Arguments { bytes }),
            None => self.arguments_by_tree(&raw),
        }
    }

    /// The canonical text of arguments that are accepted, borrowed when that is what was sent; None for all others, and for
    /// a few that only a tree can judge.
    fn canonical<'r>(&self, raw: &'r [u8]) -> Option<Cow<'r, [u8]>> {
        let arena = arena::arguments(raw)?;
        let text = self.text_of(&arena, raw);
        arena.done();
        text
    }

    fn text_of<'r>(&self, arena: &Arena<'r>, raw: &'r [u8]) -> Option<Cow<'r, [u8]>> {
        if !arena.is_object() || !self.arguments.accepts(arena) {
            return None;
        }
        if arena.canonical && self.defaults.are_none() {
            return Some(Cow::Borrowed(raw));
        }
        if arena.rounded {
            exact::literals(raw).ok()?;
        }
        let bytes = arena.canonical(&self.defaults, raw.len())?;
        // What is stored for an approval is read again by the same rules, so it must fit them too.
        (bytes.len() <= MAX_ARGUMENT_BYTES).then_some(Cow::Owned(bytes))
    }

    /// The same the long way, with the words for a refusal.
    fn arguments_by_tree(&self, raw: &[u8]) -> Result<Arguments, ArgumentFault> {
        tree::arguments(&self.arguments, raw, &self.defaults).map(|bytes| Arguments { bytes })
    }

    /// What a text names at these places as texts, when it is one JSON object that is read strictly; none for a place that
    /// holds anything else. What is wrong with the text is said by [`Validators::arguments`].
    pub(crate) fn peek<const N: usize>(raw: &[u8], names: [&str; N]) -> Option<[Option<String>; N]> {
        let Value::Object(mut object) = parse::parse(raw).ok()?.value else { return None };
        Some(names.map(|name| match object.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }))
    }

    /// Checks what a body returned against the result's schema.
    ///
    /// # Errors
    /// [`ResultFault`], which says where in the schema and nothing of the result.
    pub fn result(&self, json: &[u8]) -> Result<(), ResultFault> {
        self.result_text(core::str::from_utf8(json).map_err(|_| ResultFault::unreadable())?)
    }

    /// The same for a text.
    pub(crate) fn result_text(&self, json: &str) -> Result<(), ResultFault> {
        if self.is_result(json) { Ok(()) } else { tree::result(&self.result, json) }
    }

    /// True for a text that follows the result's schema, unless an object names a key twice.
    fn is_result(&self, json: &str) -> bool {
        let Some(arena) = arena::plain(json) else { return false };
        let valid = self.result.accepts(&arena);
        arena.done();
        valid
    }
}

impl core::fmt::Debug for Validators {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Validators")
            .field("arguments", &self.arguments)
            .field("result", &self.result)
            .finish_non_exhaustive()
    }
}
