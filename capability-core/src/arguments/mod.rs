//! Arguments from bytes that anybody may have written to bytes that a function is parsed from.
//!
//! Parsed strictly, checked against the exported schema, completed by its defaults, and written down in one canonical
//! form: what is approved, hashed and executed are those very bytes.

pub(crate) mod canonical;
mod choice;
mod defaults;
mod exact;
mod fault;
mod parse;
mod reader;
mod refusal;
mod suggest;
mod words;

pub use fault::{ArgumentCode, ArgumentFault, ResultFault};

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::contract::schema::lint::uncompilable;
use crate::contract::schema::{recursion, validation};
use crate::contract::{SchemaFault, Schemas};
use defaults::Defaults;

/// The longest argument text, in bytes.
pub const MAX_ARGUMENT_BYTES: usize = 1024 * 1024;

/// How deep arguments nest: objects and lists inside one another.
pub const MAX_ARGUMENT_DEPTH: usize = 64;

/// Validated arguments: closed, completed, and in the one form that their values have.
#[derive(Clone, PartialEq)]
pub struct Arguments {
    bytes: Vec<u8>,
    properties: Map<String, Value>,
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

    /// One argument by its name in the schema, defaults included.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.properties.get(name)
    }
}

/// Everything compiled that checks one capability's arguments and results.
///
/// Made once, on a capability's first use: compiling costs a hundred times what checking does.
pub struct Validators {
    arguments: Validator,
    result: Validator,
    defaults: Defaults,
    /// The result's schema, to name its places.
    result_schema: Value,
    /// The arguments' schema, to tell a caller what would be right.
    schema: Value,
    /// Refuses integers that were written as numbers too large to be exact; compiled when one turns up.
    exact: OnceLock<Option<Validator>>,
}

impl Validators {
    /// Compiles both documents.
    ///
    /// # Errors
    /// [`SchemaFault`] when the validator cannot enforce one of them.
    pub fn compile(schemas: &Schemas) -> Result<Self, SchemaFault> {
        let build =
            |document: &Value| validation().build(&recursion::guarded(document)?).map_err(|error| uncompilable(&error));
        Ok(Self {
            arguments: build(schemas.arguments())?,
            result: build(schemas.result())?,
            defaults: Defaults::of(schemas.arguments())?,
            result_schema: schemas.result().clone(),
            schema: schemas.arguments().clone(),
            exact: OnceLock::new(),
        })
    }

    /// Parses, checks and completes arguments.
    ///
    /// # Errors
    /// [`ArgumentFault`] with words for the caller and, apart, what may be recorded.
    pub fn arguments(&self, raw: &[u8]) -> Result<Arguments, ArgumentFault> {
        let parsed = parse::parse(raw)?;
        let value = parsed.value;
        if !value.is_object() {
            return Err(refusal::not_an_object(&value));
        }
        if !self.arguments.is_valid(&value) {
            return Err(refusal::refusal(&self.arguments, &self.schema, &value, raw.len()));
        }
        if parsed.inexact
            && let Some(exact) = self.exact.get_or_init(|| exact::integers(&self.schema))
            && !exact.is_valid(&value)
        {
            return Err(refusal::refusal(exact, &self.schema, &value, raw.len()));
        }
        let Value::Object(mut properties) = value else {
            return Err(refusal::not_an_object(&Value::Null));
        };
        self.defaults.fill(&mut properties).map_err(|_| refusal::too_many_defaults())?;
        let bytes = canonical::object(&properties, raw.len());
        // What is stored for an approval is read again by the same rules, so it must fit them too.
        if bytes.len() > MAX_ARGUMENT_BYTES {
            return Err(refusal::too_many_defaults());
        }
        Ok(Arguments { bytes, properties })
    }

    /// Checks what a body returned against the result's schema.
    ///
    /// # Errors
    /// [`ResultFault`], which says where in the schema and nothing of the result.
    pub fn result(&self, json: &[u8]) -> Result<(), ResultFault> {
        let value: Value = serde_json::from_slice(json).map_err(|_| ResultFault::unreadable())?;
        if self.result.is_valid(&value) {
            return Ok(());
        }
        Err(refusal::result(&self.result, &self.result_schema, &value))
    }
}

impl core::fmt::Debug for Validators {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Validators").field("schema", &self.schema).finish_non_exhaustive()
    }
}
