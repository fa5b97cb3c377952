//! A schema as it is shown to a model: as little text as says the same.
//!
//! What is shown accepts no argument that the executor refuses, and everything that can be said is still sayable: the one
//! thing a shown schema leaves out is a null that means what leaving the argument out means. Nothing that bounds or describes
//! an argument is dropped.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::arguments::canonical;
use crate::contract::schema::pointer::Pointer;
use crate::contract::schema::walk;

/// How deep a schema may nest to be walked at all.
pub(super) const MAX_DEPTH: usize = 96;

/// The shown form of an exported argument schema.
///
/// | exported | shown |
/// |---|---|
/// | a choice between constants, each with its description | `enum`, with the descriptions in the place's own |
/// | an optional property that may be null, which means the same as leaving it out | the property without null |
///
/// A document that nests deeper than schemas of ours may is given back as it is: copying it alone could take more stack than
/// there is.
#[must_use]
pub fn shown(exported: &Value) -> Cow<'_, Value> {
    if depth_of(exported) > MAX_DEPTH {
        return Cow::Borrowed(exported);
    }
    let mut document = exported.clone();
    // What it visits is every place once, and no visit fails.
    let _ = walk::every_after(&mut document, &mut Pointer::default(), &mut |schema, _| {
        if let Value::Object(schema) = schema {
            constants(schema);
            optional_nulls(schema);
        }
        Ok(())
    });
    Cow::Owned(canonical::sorted(document))
}

/// How many levels a document has. It goes level by level: a foreign document may be deeper than a stack.
pub(super) fn depth_of(document: &Value) -> usize {
    let mut level: Vec<&Value> = vec![document];
    let mut depth = 0;
    while !level.is_empty() && depth <= MAX_DEPTH {
        depth += 1;
        level = level
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(items) => items.iter().collect::<Vec<_>>(),
                Value::Object(object) => object.values().collect(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
            })
            .collect();
    }
    depth
}

/// A choice between constants as a list of values, when it says nothing else.
fn constants(schema: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = schema.get("oneOf") else { return };
    if ["enum", "const", "anyOf", "allOf", "$ref"].iter().any(|keyword| schema.contains_key(*keyword)) {
        return;
    }
    let mut values: Vec<Value> = Vec::with_capacity(branches.len());
    let mut words: Vec<String> = Vec::new();
    for branch in branches {
        let Some(branch) = branch.as_object() else { return };
        let Some(value) = branch.get("const") else { return };
        if branch.keys().any(|keyword| !matches!(keyword.as_str(), "const" | "type" | "description"))
            || values.contains(value)
        {
            return;
        }
        if let Some(description) = branch.get("description").and_then(Value::as_str) {
            let said = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            words.push(format!("`{said}`: {description}"));
        }
        values.push(value.clone());
    }
    schema.remove("oneOf");
    schema.insert("enum".to_owned(), Value::Array(values));
    if !words.is_empty() {
        describe(schema, &words.join(" "));
    }
}

/// Adds a sentence to what a place says about itself.
pub(super) fn describe(schema: &mut Map<String, Value>, sentence: &str) {
    let description = match schema.get("description").and_then(Value::as_str) {
        None | Some("") => sentence.to_owned(),
        Some(own) => format!("{own} {sentence}"),
    };
    schema.insert("description".to_owned(), Value::String(description));
}

/// Takes null from the optional properties for which it means that they were left out.
fn optional_nulls(schema: &mut Map<String, Value>) {
    let required: Vec<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, property) in properties {
        let Value::Object(property) = property else { continue };
        // With another default, null and nothing are two things.
        let other_default = property.get("default").is_some_and(|default| !default.is_null());
        if !required.contains(name) && !other_default && without_null(property) {
            property.remove("default");
        }
    }
}

/// Takes null from what `schema` accepts, where it is one of its alternatives; whether it was.
pub(super) fn without_null(schema: &mut Map<String, Value>) -> bool {
    if let Some(Value::Array(names)) = schema.get("type") {
        let rest: Vec<Value> = names.iter().filter(|name| name.as_str() != Some("null")).cloned().collect();
        if rest.len() == names.len() || rest.is_empty() || schema.contains_key("const") {
            return false;
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        let kind = if let [one] = rest.as_slice() { one.clone() } else { Value::Array(rest) };
        schema.insert("type".to_owned(), kind);
        return true;
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.get(keyword) else { continue };
        let rest: Vec<Value> = branches.iter().filter(|branch| !is_null(branch)).cloned().collect();
        if rest.len() == branches.len() || rest.is_empty() {
            continue;
        }
        match rest.as_slice() {
            [Value::Object(only)] if fits_into(schema, keyword, only) => {
                let only = only.clone();
                schema.remove(keyword);
                for (key, value) in only {
                    // What is said at the place goes before what is said about the type.
                    schema.entry(key).or_insert(value);
                }
            }
            _ => {
                schema.insert(keyword.to_owned(), Value::Array(rest));
            }
        }
        return true;
    }
    false
}

/// A branch that accepts null and nothing else.
fn is_null(branch: &Value) -> bool {
    branch.get("type").and_then(Value::as_str) == Some("null")
}

/// Whether a single alternative can stand in the place that chooses it.
fn fits_into(place: &Map<String, Value>, keyword: &str, branch: &Map<String, Value>) -> bool {
    branch.keys().all(|key| key == "description" || key == keyword || !place.contains_key(key))
        && !branch.contains_key("$ref")
        && place.keys().all(|key| key == keyword || matches!(key.as_str(), "description" | "default"))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::{Value, json};

    use super::shown;

    #[test]
    fn choices_and_nulls() {
        let exported = json!({
            "type": "object", "additionalProperties": false, "required": ["period"],
            "properties": {
                "period": { "description": "Over what.", "type": "string", "oneOf": [
                    { "const": "today", "type": "string", "description": "Since midnight." },
                    { "const": "week", "type": "string" },
                ]},
                "range": { "description": "How recent.", "anyOf": [
                    { "description": "A range.", "type": "string", "oneOf": [
                        { "const": "day", "type": "string" }, { "const": "month", "type": "string" },
                    ]},
                    { "type": "null" },
                ]},
                "count": { "type": ["integer", "null"], "minimum": 0, "default": null },
                "kept": { "type": ["integer", "null"], "default": 3 },
            },
        });
        let expected = json!({
            "type": "object", "additionalProperties": false, "required": ["period"],
            "properties": {
                "period": {
                    "description": "Over what. `today`: Since midnight.", "type": "string", "enum": ["today", "week"],
                },
                "range": { "description": "How recent.", "type": "string", "enum": ["day", "month"] },
                "count": { "type": "integer", "minimum": 0 },
                "kept": { "type": ["integer", "null"], "default": 3 },
            },
        });
        assert_eq!(*shown(&exported), expected);
    }

    #[test]
    fn what_says_more_than_a_choice_stays() {
        for kept in [
            json!({ "oneOf": [{ "const": 1, "type": "integer" }, { "type": "string" }] }),
            json!({ "oneOf": [{ "const": 1 }, { "const": 1 }] }),
            json!({ "oneOf": [{ "const": 1, "minimum": 0 }] }),
            json!({ "oneOf": [{ "const": 1 }], "enum": [1, 2] }),
        ] {
            assert_eq!(*shown(&kept), kept);
        }
    }

    #[test]
    fn a_required_null_is_a_value() {
        let document = json!({
            "type": "object", "required": ["a"], "properties": { "a": { "type": ["string", "null"] } },
        });
        assert_eq!(*shown(&document), document);
    }

    #[test]
    fn a_document_deeper_than_a_stack_is_left_alone() {
        let document = nested(10_000);
        assert!(matches!(shown(&document), Cow::Borrowed(_)));
        flattened(document);
    }

    /// So many lists inside one another.
    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!({ "type": "string" }), |inner, _| {
            let mut outer = serde_json::Map::new();
            outer.insert("items".to_owned(), inner);
            Value::Object(outer)
        })
    }

    /// Taken apart level by level: dropped as it is, it would need as many stack frames.
    fn flattened(mut document: Value) {
        while let Some(inner) = document.get_mut("items") {
            document = inner.take();
        }
    }
}
