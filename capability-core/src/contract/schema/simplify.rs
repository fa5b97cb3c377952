//! Noise removed, and everything said in words that every validator understands.

use serde_json::{Map, Value, json};

use super::fault::SchemaFault;
use super::pointer::Pointer;
use super::{bounds, text, walk};

/// The formats that draft 2020-12 defines and that are enforced here. Those for internationalised names are not: what is
/// not enforced is not shown.
const FORMATS: [&str; 17] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Rewrites every place of `document` by itself.
pub(super) fn simplify(document: &mut Value) -> Result<(), SchemaFault> {
    walk::every(document, &mut Pointer::default(), &mut |schema, at| match schema {
        Value::Object(object) => one(object, at),
        Value::Bool(_) => Ok(()),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(SchemaFault::new(at.as_str(), "a schema is an object", "describe the type by a JSON Schema object"))
        }
    })
}

fn one(schema: &mut Map<String, Value>, at: &Pointer) -> Result<(), SchemaFault> {
    refuse_foreign(schema, at)?;
    schema.remove("$schema");
    schema.remove("title");
    describe(schema);
    bounds::exact(schema);
    restrict_format(schema);
    exact_integer_keys(schema);
    settle_required(schema);
    Ok(())
}

/// Keywords that would make a document mean something else elsewhere, or fetch something.
fn refuse_foreign(schema: &Map<String, Value>, at: &Pointer) -> Result<(), SchemaFault> {
    for key in schema.keys() {
        let help = match key.as_str() {
            "nullable" => "write `\"type\": [\"..\", \"null\"]`, or use `Option`",
            "$id" | "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveRef" | "$recursiveAnchor"
            | "$vocabulary" => "remove it: a capability's schema is one self-contained document",
            "definitions" => "write `$defs`",
            "dependencies" => "write `dependentRequired` or `dependentSchemas`",
            "additionalItems" => "write `prefixItems` and `items`",
            _ => continue,
        };
        return Err(SchemaFault::new(at.as_str(), "the keyword has no place here", help).saying(format!("`{key}`")));
    }
    let local = |reference: &str| reference == "#" || reference.starts_with("#/$defs/");
    match schema.get("$ref") {
        Some(Value::String(reference)) if !local(reference) => Err(SchemaFault::new(
            at.as_str(),
            "a `$ref` stays inside its document: nothing is ever fetched",
            "put the schema under `$defs` and refer to `#/$defs/..`",
        )
        .saying(format!("`{reference}`"))),
        _ => Ok(()),
    }
}

fn describe(schema: &mut Map<String, Value>) {
    let Some(Value::String(description)) = schema.get_mut("description") else { return };
    *description = text::joined(description);
    if description.is_empty() {
        schema.remove("description");
    }
}

/// Keeps the formats of the draft. An address of either family is one of the two that the draft knows.
fn restrict_format(schema: &mut Map<String, Value>) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else { return };
    let families = format == "ip" && !schema.contains_key("anyOf");
    if !FORMATS.contains(&format) {
        schema.remove("format");
    }
    if families {
        schema.insert("anyOf".to_owned(), json!([{ "format": "ipv4" }, { "format": "ipv6" }]));
    }
}

/// A map with integer keys: one way of writing each key, the way it is parsed. `01` and `1` would be one entry.
fn exact_integer_keys(schema: &mut Map<String, Value>) {
    let Some(Value::Object(patterns)) = schema.get_mut("patternProperties") else { return };
    for (generated, exact) in [(r"^\d+$", "^(0|[1-9][0-9]{0,19})$"), (r"^-?\d+$", "^(0|-?[1-9][0-9]{0,18})$")] {
        if let Some(values) = patterns.remove(generated) {
            patterns.insert(exact.to_owned(), values);
        }
    }
}

/// Which names are required is a set; the order of the fields does not belong to the contract.
fn settle_required(schema: &mut Map<String, Value>) {
    let Some(Value::Array(required)) = schema.get_mut("required") else { return };
    required.sort_by(|left, right| left.as_str().cmp(&right.as_str()));
    required.dedup();
    if required.is_empty() {
        schema.remove("required");
    }
}

/// Gives a choice the type that all its branches share, so that no place is without one.
pub(super) fn state_types(document: &mut Value) -> Result<(), SchemaFault> {
    walk::every_after(document, &mut Pointer::default(), &mut |schema, _| {
        let Value::Object(object) = schema else { return Ok(()) };
        if !object.contains_key("type")
            && let Some(shared) = of_value(object).or_else(|| of_branches(object))
        {
            object.insert("type".to_owned(), shared);
        }
        Ok(())
    })
}

fn of_value(schema: &Map<String, Value>) -> Option<Value> {
    let single = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => return Some(Value::from(type_name(value))),
        (None, Some(Value::Array(values))) => values,
        _ => return None,
    };
    let first = type_name(single.first()?);
    single.iter().all(|value| type_name(value) == first).then(|| Value::from(first))
}

fn of_branches(schema: &Map<String, Value>) -> Option<Value> {
    let branches = ["oneOf", "anyOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array())?;
    let first = branches.first()?.get("type")?.as_str()?;
    let shared = branches.iter().all(|branch| branch.get("type").and_then(Value::as_str) == Some(first));
    shared.then(|| Value::from(first))
}

/// The JSON Schema name of a value's type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
