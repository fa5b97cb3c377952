//! The two JSON Schema documents of a capability, as they are shown, pinned and enforced.
//!
//! One document serves all three: what a caller is shown is byte for byte what its arguments are checked against and what
//! the contract list pins. JSON Schema 2020-12 throughout.

mod bounds;
pub(crate) mod check;
mod close;
mod fault;
#[cfg(feature = "jsonschema")]
pub(crate) mod general;
mod lint;
pub(crate) mod names;
mod opened;
pub(crate) mod pointer;
pub(crate) mod recursion;
pub(crate) mod simplify;
mod text;
pub(crate) mod walk;

pub use fault::SchemaFault;
use opened::is_provided;
pub(crate) use opened::{ARGUMENTS, PROVIDED, TOOL};

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::arguments::canonical;
use crate::contract::Capability;

/// The longest exported schema document, in bytes of its canonical text.
pub const MAX_SCHEMA_BYTES: usize = 64 * 1024;

/// The two exported JSON Schema documents of one capability.
#[derive(Debug, Clone, PartialEq)]
pub struct Schemas {
    arguments: Value,
    result: Value,
    arguments_digest: [u8; 32],
    result_digest: [u8; 32],
}

/// Which of the two documents is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Document {
    /// What a caller sends.
    Arguments,
    /// What it gets back.
    Result,
}

/// A type's own schema, before it is normalised.
pub(crate) type Generate = fn(&mut SchemaGenerator) -> Schema;

impl Schemas {
    /// Generates, normalises and checks both documents of `capability`.
    ///
    /// # Errors
    /// [`SchemaFault`] when a type's schema says less than it must, or more than can be enforced; it names the place and
    /// what to change.
    pub fn of(capability: &Capability) -> Result<Self, SchemaFault> {
        let code = capability.code();
        let schemas = Self::generate(code.arguments, code.result)?;
        // The attribute sees the names of single parameters; those of a whole `#[args]` type are known only here.
        for named in [capability.target().argument, capability.scope()].into_iter().flatten() {
            if schemas.arguments.get("properties").and_then(|properties| properties.get(named)).is_none() {
                return Err(SchemaFault::new(
                    "/properties",
                    "`target` and `scope` name a property of the arguments",
                    "name one that the `#[args]` type has, as it is spelt in JSON",
                )
                .saying(named)
                .of(Document::Arguments));
            }
        }
        opened::settle(capability, &schemas)?;
        Ok(schemas)
    }

    /// The same for any two types.
    pub(crate) fn generate(arguments: Generate, result: Generate) -> Result<Self, SchemaFault> {
        let raw = |of: Generate, settings: SchemaSettings| {
            let mut generator = settings
                .with(|settings| {
                    settings.meta_schema = None;
                    settings.inline_subschemas = true;
                })
                .into_generator();
            of(&mut generator).to_value()
        };
        Self::normalise(
            raw(arguments, SchemaSettings::draft2020_12().for_deserialize()),
            raw(result, SchemaSettings::draft2020_12().for_serialize()),
        )
    }

    /// Normalises two documents as a generator left them.
    pub(crate) fn normalise(arguments: Value, result: Value) -> Result<Self, SchemaFault> {
        let (arguments, arguments_digest) = normalise(arguments, Document::Arguments)?;
        let (result, result_digest) = normalise(result, Document::Result)?;
        Ok(Self { arguments, result, arguments_digest, result_digest })
    }

    /// The schema of the arguments: always of an object, always closed.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Whether every call names this argument.
    pub(crate) fn requires(&self, argument: &str) -> bool {
        let required = self.arguments.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|listed| listed == argument))
    }

    /// The schema of the result, as it is serialised.
    #[must_use]
    pub fn result(&self) -> &Value {
        &self.result
    }

    /// SHA-256 over the canonical text of the arguments' schema.
    #[must_use]
    pub const fn arguments_digest(&self) -> [u8; 32] {
        self.arguments_digest
    }

    /// SHA-256 over the canonical text of the result's schema.
    #[must_use]
    pub const fn result_digest(&self) -> [u8; 32] {
        self.result_digest
    }
}

/// One document: simplified, closed, named, sorted and checked. The order of the steps matters: closing looks at what
/// simplifying left, names depend on the closed content, and the lint judges what is exported.
fn normalise(mut document: Value, which: Document) -> Result<(Value, [u8; 32]), SchemaFault> {
    let settled = (|| {
        lint::depth(&document)?;
        if document == Value::Bool(true) {
            return Err(SchemaFault::anything(""));
        }
        let Value::Object(root) = &mut document else {
            return Err(SchemaFault::new("", "a schema is an object", "describe the type by a JSON Schema object"));
        };
        if which == Document::Arguments && is_bare_object(root) {
            root.insert("properties".to_owned(), Value::Object(Map::new()));
        }
        simplify::simplify(&mut document)?;
        close::close(&mut document)?;
        simplify::state_types(&mut document)?;
        names::settle(&mut document)?;
        document = canonical::sorted(core::mem::take(&mut document));
        lint::lint(&document, which)?;
        let text = canonical::text(&document);
        if text.len() > MAX_SCHEMA_BYTES {
            return Err(SchemaFault::new(
                "",
                "a schema document is at most 64 KiB",
                "split the capability, or describe fewer cases",
            ));
        }
        recursion::guarded(&document)?;
        lint::enforceable(&document)?;
        Ok(Sha256::digest(&text).into())
    })();
    match settled {
        Ok(digest) => Ok((document, digest)),
        Err(fault) => Err(fault.of(which)),
    }
}

/// True for a struct without fields, whose generated schema says nothing but that it is an object.
fn is_bare_object(root: &Map<String, Value>) -> bool {
    root.get("type").and_then(Value::as_str) == Some("object")
        && !root.keys().any(|key| {
            matches!(
                key.as_str(),
                "properties"
                    | "patternProperties"
                    | "allOf"
                    | "anyOf"
                    | "oneOf"
                    | "$ref"
                    | "if"
                    | "unevaluatedProperties"
            ) || (key == "additionalProperties" && root.get(key) != Some(&Value::Bool(false)))
        })
}
