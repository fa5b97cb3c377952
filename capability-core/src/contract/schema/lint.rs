//! What an exported schema must say, and must not.

use serde_json::{Map, Value};

use super::bounds::compare;
use super::fault::SchemaFault;
use super::pointer::Pointer;
use super::walk::{self, has_type};
use super::{Document, validation};

/// How deep a document nests. The validator and every walk here recurse.
const MAX_DEPTH: usize = 96;

/// Refuses a document that walks would have to go too deep in.
pub(super) fn depth(document: &Value) -> Result<(), SchemaFault> {
    let mut level: Vec<&Value> = vec![document];
    for _ in 0..=MAX_DEPTH {
        level = level
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(items) => items.iter().collect::<Vec<_>>(),
                Value::Object(object) => object.values().collect(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
            })
            .collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    Err(SchemaFault::new("", "a schema document nests at most 96 levels", "flatten the types it describes"))
}

/// Refuses a document that leaves a place open, or that nothing can satisfy.
pub(super) fn lint(document: &Value, which: Document) -> Result<(), SchemaFault> {
    if which == Document::Arguments && document.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaFault::new(
            "",
            "the arguments of a capability are an object",
            "use a struct with named fields, or take the value as a named parameter",
        ));
    }
    walk::every_ref(document, &mut Pointer::default(), &mut |schema, at| match schema {
        Value::Bool(true) => Err(SchemaFault::anything(at.as_str())),
        Value::Object(object) => one(object, at),
        Value::Null | Value::Bool(false) | Value::Number(_) | Value::String(_) | Value::Array(_) => Ok(()),
    })
}

fn one(schema: &Map<String, Value>, at: &Pointer) -> Result<(), SchemaFault> {
    if schema.keys().all(|keyword| is_annotation(keyword)) {
        return Err(SchemaFault::anything(at.as_str()));
    }
    let says = |keyword: &str| schema.contains_key(keyword);
    if has_type(schema, "array") && !["items", "maxItems", "unevaluatedItems", "const", "enum"].into_iter().any(says) {
        return Err(SchemaFault::anything(&format!("{}/items", at.as_str())));
    }
    for (least, greatest) in [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ] {
        if let (Some(Value::Number(low)), Some(Value::Number(high))) = (schema.get(least), schema.get(greatest))
            && compare(low, high).is_some_and(core::cmp::Ordering::is_gt)
        {
            return Err(SchemaFault::new(
                at.as_str(),
                "a range holds at least one value",
                "write bounds that the type can reach, the smaller one first",
            )
            .saying(format!("`{least}` is {low} and `{greatest}` is {high}")));
        }
    }
    Ok(())
}

fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
            | "$defs"
    ) || keyword.starts_with("x-")
}

/// Refuses what cannot be compiled and defaults that their own schema refuses.
pub(super) fn enforceable(document: &Value) -> Result<(), SchemaFault> {
    let mut compiles = false;
    let mut defaults = Vec::new();
    walk::every_ref(document, &mut Pointer::default(), &mut |schema, at| {
        if let Value::Object(object) = schema {
            compiles |= object.contains_key("pattern") || object.contains_key("patternProperties");
            if let Some(default) = object.get("default") {
                defaults.push((at.as_str().to_owned(), default));
            }
        }
        Ok(())
    })?;
    if defaults.is_empty() {
        return if compiles {
            validation().build(document).map(drop).map_err(|error| uncompilable(&error))
        } else {
            Ok(())
        };
    }
    let validators = validation().build_map(document).map_err(|error| uncompilable(&error))?;
    for (pointer, default) in defaults {
        // The map's keys are URI fragments, so that a name is percent-encoded there; one that is cannot be looked up
        // plainly, and is compiled by reference instead.
        let refused = match validators.get(&format!("#{pointer}")) {
            Some(validator) => !validator.is_valid(default),
            None => !by_reference(document, &pointer)?.is_valid(default),
        };
        if refused {
            return Err(SchemaFault::new(
                format!("{pointer}/default"),
                "a default is one of the values its own schema accepts",
                "change the default or the rule it breaks",
            ));
        }
    }
    Ok(())
}

fn by_reference(document: &Value, pointer: &str) -> Result<jsonschema::Validator, SchemaFault> {
    let mut place = document.pointer(pointer).cloned().unwrap_or_default();
    if let (Value::Object(place), Some(definitions)) = (&mut place, document.get("$defs")) {
        place.insert("$defs".to_owned(), definitions.clone());
    }
    validation().build(&place).map_err(|error| uncompilable(&error))
}

/// A document that the validator does not take.
pub(crate) fn uncompilable(error: &jsonschema::ValidationError<'_>) -> SchemaFault {
    SchemaFault::new(
        error.instance_path().as_str(),
        "every keyword can be enforced, and every pattern in linear time",
        "write a pattern without look-around and back-references, and keyword values as JSON Schema 2020-12 has them",
    )
    .saying(error.to_string())
}
