//! How a general validator is built, for documents with keywords that are not checked here.

use std::sync::Arc;

use jsonschema::json::{Json, SerdeJson};
use jsonschema::{PatternOptions, Retrieve, ValidationError, ValidationOptions, Validator};
use serde_json::Value;

use super::fault::SchemaFault;
use super::lint::refused_default;

/// Nothing is fetched, patterns are matched in linear time, and a format that is shown is a format that is enforced.
pub(crate) fn validation() -> ValidationOptions<'static> {
    validation_of::<SerdeJson>()
}

/// The same for any representation of JSON.
pub(crate) fn validation_of<F: Json>() -> ValidationOptions<'static, Arc<dyn Retrieve>, F> {
    jsonschema::options_for::<F>()
        .with_draft(jsonschema::Draft::Draft202012)
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
}

/// Refuses a document that cannot be compiled, and defaults that their own schema refuses.
pub(super) fn enforceable(document: &Value, defaults: &[(String, &Value)]) -> Result<(), SchemaFault> {
    if defaults.is_empty() {
        return validation().build(document).map(drop).map_err(|error| uncompilable(&error));
    }
    let validators = validation().build_map(document).map_err(|error| uncompilable(&error))?;
    for (pointer, default) in defaults {
        // The map's keys are URI fragments, so that a name is percent-encoded there; one that is cannot be looked up
        // plainly, and is compiled by reference instead.
        let refused = match validators.get(&format!("#{pointer}")) {
            Some(validator) => !validator.is_valid(default),
            None => !by_reference(document, pointer)?.is_valid(default),
        };
        if refused {
            return Err(refused_default(pointer));
        }
    }
    Ok(())
}

fn by_reference(document: &Value, pointer: &str) -> Result<Validator, SchemaFault> {
    let mut place = document.pointer(pointer).cloned().unwrap_or_default();
    if let (Value::Object(place), Some(definitions)) = (&mut place, document.get("$defs")) {
        place.insert("$defs".to_owned(), definitions.clone());
    }
    validation().build(&place).map_err(|error| uncompilable(&error))
}

/// A document that the validator does not take.
pub(crate) fn uncompilable(error: &ValidationError<'_>) -> SchemaFault {
    SchemaFault::new(
        error.instance_path().as_str(),
        "every keyword can be enforced, and every pattern in linear time",
        "write a pattern without look-around and back-references, and keyword values as JSON Schema 2020-12 has them",
    )
    .saying(error.to_string())
}
