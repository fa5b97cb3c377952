//! Schemas as every client can read them: one type at each place.
//!
//! `"type": ["string", "null"]` is JSON Schema, and some programs that read schemas for their models' interfaces take one
//! type only. The same said as alternatives means the same to everybody. What is validated is the schema as it was.

use serde_json::{Map, Value, json};

/// How deeply a schema is looked into; ours are far from it, and a foreign one is left as it is below.
const MAX_DEPTH: usize = 64;

/// Keywords that say something about values of one type alone.
const OF_TYPE: [(&str, &[&str]); 5] = [
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ("integer", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    (
        "string",
        &["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType", "contentSchema"],
    ),
    (
        "array",
        &["items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"],
    ),
    (
        "object",
        &[
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "dependentRequired",
            "dependentSchemas",
            "minProperties",
            "maxProperties",
        ],
    ),
];

/// Keywords that hold schemas by name, one schema, and a list of them.
const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
const ONE: [&str; 11] = [
    "items",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];
const LISTED: [&str; 4] = ["prefixItems", "allOf", "anyOf", "oneOf"];

/// The same schema without a list of types anywhere.
pub fn portable(schema: &Value) -> Value {
    at_depth(schema, 0)
}

fn at_depth(schema: &Value, depth: usize) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    if depth >= MAX_DEPTH {
        return Value::Object(schema.clone());
    }
    let below = |value: &Value| at_depth(value, depth + 1);
    let inner = schema.iter().map(|(keyword, value)| {
        let value = match value {
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => {
                Value::Object(named.iter().map(|(name, schema)| (name.clone(), below(schema))).collect())
            }
            Value::Array(listed) if LISTED.contains(&keyword.as_str()) => listed.iter().map(below).collect(),
            one if ONE.contains(&keyword.as_str()) => below(one),
            other => other.clone(),
        };
        (keyword.clone(), value)
    });
    split(inner.collect())
}

/// One schema, whose parts have been seen to.
fn split(mut schema: Map<String, Value>) -> Value {
    let Some(Value::Array(types)) = schema.get("type").cloned() else { return Value::Object(schema) };
    if let [one] = types.as_slice() {
        schema.insert("type".to_owned(), one.clone());
        return Value::Object(schema);
    }
    let mut either: Vec<Map<String, Value>> = types.iter().map(|kind| of(kind, &schema)).collect();
    schema.remove("type");
    for keyword in OF_TYPE.iter().flat_map(|(_, keywords)| *keywords) {
        schema.remove(*keyword);
    }
    if let Some(values) = schema.remove("enum") {
        for branch in &mut either {
            let fitting: Vec<Value> = listed(&values).filter(|value| fits(branch, value)).cloned().collect();
            branch.insert("enum".to_owned(), fitting.into());
        }
        // A type of which no value is listed takes none.
        either.retain(|branch| branch.get("enum").is_none_or(|values| listed(values).next().is_some()));
    }
    if either.is_empty() {
        // A list of alternatives has one at least: what takes nothing is said so, and that holds whatever else is said.
        schema.insert("not".to_owned(), json!({}));
        return Value::Object(schema);
    }
    let either: Value = either.into_iter().map(Value::Object).collect();
    if schema.contains_key("anyOf") {
        // Both have to hold.
        let mut all: Vec<Value> = schema.get("allOf").map(listed).into_iter().flatten().cloned().collect();
        all.push(json!({ "anyOf": either }));
        schema.insert("allOf".to_owned(), all.into());
    } else {
        schema.insert("anyOf".to_owned(), either);
    }
    Value::Object(schema)
}

fn listed(values: &Value) -> impl Iterator<Item = &Value> {
    values.as_array().into_iter().flatten()
}

/// What a schema says about values of one type.
fn of(kind: &Value, schema: &Map<String, Value>) -> Map<String, Value> {
    let keywords = OF_TYPE.iter().find(|(name, _)| kind == name).map_or(&[][..], |(_, keywords)| *keywords);
    let own = keywords.iter().filter_map(|keyword| Some(((*keyword).to_owned(), schema.get(*keyword)?.clone())));
    [("type".to_owned(), kind.clone())].into_iter().chain(own).collect()
}

fn fits(branch: &Map<String, Value>, value: &Value) -> bool {
    match branch.get("type").and_then(Value::as_str) {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("number") => value.is_number(),
        Some("integer") => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests;
