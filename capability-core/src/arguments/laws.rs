//! Schemas and validation of any type, and the laws they keep on any input, for tests and fuzzers. Nothing here is
//! covered by any promise.
#![doc(hidden)]

use schemars::JsonSchema;
use serde_json::{Value, json};

pub use crate::arguments::Validators;
pub use crate::arguments::both_ways::{hold_for_both_ways, hold_for_results};
#[cfg(feature = "jsonschema")]
pub use crate::arguments::oracle::Oracle;
use crate::contract::{SchemaFault, Schemas};

/// The schemas of two types, as a capability's with these arguments and this result would be.
///
/// # Errors
/// [`SchemaFault`], as for a capability.
pub fn schemas_of<A: JsonSchema, R: JsonSchema>() -> Result<Schemas, SchemaFault> {
    Schemas::generate(|generator| generator.root_schema_for::<A>(), |generator| generator.root_schema_for::<R>())
}

/// Normalises a schema that stands for the arguments.
///
/// # Errors
/// [`SchemaFault`], as for a capability.
pub fn normalised(arguments: Value) -> Result<Schemas, SchemaFault> {
    Schemas::normalise(arguments, json!({ "type": "null" }))
}

/// Checks an instance against the exported document alone, as it stands. None when the document does not compile.
#[must_use]
pub fn oracle(document: &Value, instance: &Value) -> Option<bool> {
    #[cfg(feature = "jsonschema")]
    return crate::contract::schema::general::validation()
        .build(document)
        .ok()
        .map(|general| general.is_valid(instance));
    #[cfg(not(feature = "jsonschema"))]
    return crate::contract::schema::check::Check::of(document).ok().map(|check| check.accepts(instance));
}

/// What holds for every argument text: no panic, and whatever is accepted is canonical, stays what it is when it is sent
/// again, and is accepted by the exported schema.
///
/// # Panics
/// When a law is broken.
pub fn hold_for_arguments(validators: &Validators, schemas: &Schemas, raw: &[u8]) {
    hold_for_both_ways(validators, raw);
    let arguments = match validators.arguments(raw) {
        Ok(arguments) => arguments,
        Err(fault) => {
            assert!(!fault.message.is_empty(), "a refusal says why");
            assert_eq!(fault.keyword.is_some(), fault.schema_path.is_some(), "a keyword has its place");
            return;
        }
    };
    let text = arguments.as_bytes();
    let again = validators.arguments(text).map(|again| again.as_bytes().to_vec());
    assert_eq!(again.as_deref(), Ok(text), "canonical arguments are accepted and stay what they are");
    let value: Option<Value> = serde_json::from_slice(text).ok();
    assert!(value.as_ref().is_some_and(|value| oracle(schemas.arguments(), value) == Some(true)), "the schema accepts");
    assert!(!text.contains(&0), "no NUL survives");
}

/// What holds for every schema text: no panic, and whatever is exported is its own normal form and compiles.
///
/// # Panics
/// When a law is broken.
pub fn hold_for_schema(raw: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Value>(raw) else { return };
    let schemas = match normalised(document) {
        Ok(schemas) => schemas,
        Err(fault) => {
            assert!(fault.to_string().contains("help: "), "a fault says what to change");
            return;
        }
    };
    let again = normalised(schemas.arguments().clone());
    assert_eq!(again.as_ref().map(Schemas::arguments), Ok(schemas.arguments()), "normalising twice is once");
    let validators = Validators::compile(&schemas);
    if let Ok(validators) = validators {
        for sample in ["{}", r#"{"a":1}"#, r#"{"a":null,"b":[{}]}"#] {
            hold_for_arguments(&validators, &schemas, sample.as_bytes());
        }
    }
}
