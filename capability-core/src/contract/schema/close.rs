//! Closed objects: a property that nobody declared is refused.
//!
//! Each object is closed once, at the outermost place that describes it. A place that combines properties of its own with
//! others' (`#[serde(flatten)]`) closes over all of them, and what it combines stays open.

use serde_json::{Map, Value, json};

use super::fault::SchemaFault;
use super::pointer::Pointer;
use super::walk::{self, AppliesTo, has_type};

/// How many schemas may be copied into the places that combine them: a document that grows beyond is refused, not built.
const MAX_COPIES: usize = 64;

/// Closes every object of `document`.
pub(super) fn close(document: &mut Value) -> Result<(), SchemaFault> {
    let mut closing = Closing { original: document.clone(), copies: 0 };
    closing.place(document, Openness::Closed, &mut Pointer::default())
}

/// Whether a place closes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Openness {
    Closed,
    /// A place around it closes over it.
    Open,
}

struct Closing {
    /// The document before anything was closed: what a reference is copied from.
    original: Value,
    copies: usize,
}

impl Closing {
    fn place(&mut self, schema: &mut Value, openness: Openness, at: &mut Pointer) -> Result<(), SchemaFault> {
        if openness == Openness::Open && is_anything(schema) {
            // A branch that adds nothing: an absent flattened `Option`. The object around it says what it is.
            *schema = json!({ "type": "object" });
        }
        let Value::Object(object) = schema else { return Ok(()) };
        let parts = match openness {
            Openness::Open => {
                self.copy_reference(object, at)?;
                for keyword in ["additionalProperties", "unevaluatedProperties"] {
                    if object.get(keyword) == Some(&Value::Bool(false)) {
                        object.remove(keyword);
                    }
                }
                Openness::Open
            }
            Openness::Closed if self.combines(object) => {
                if object.get("additionalProperties") == Some(&Value::Bool(false)) {
                    object.remove("additionalProperties");
                }
                if !object.contains_key("additionalProperties") {
                    self.copy_reference(object, at)?;
                    object.entry("unevaluatedProperties").or_insert(Value::Bool(false));
                }
                Openness::Open
            }
            Openness::Closed => {
                if needs_closing(object) {
                    object.insert("additionalProperties".to_owned(), Value::Bool(false));
                }
                Openness::Closed
            }
        };
        walk::children(object, at, &mut |applies, child, at| match applies {
            AppliesTo::Same => self.place(child, parts, at),
            AppliesTo::Part | AppliesTo::Definition => self.place(child, Openness::Closed, at),
            AppliesTo::Question => Ok(()),
        })
    }

    /// True when several parts describe one object together.
    fn combines(&self, schema: &Map<String, Value>) -> bool {
        let with_others = schema.iter().any(|(name, _)| {
            matches!(name.as_str(), "anyOf" | "oneOf" | "if" | "then" | "else" | "dependentSchemas" | "$ref")
        });
        let own = has_properties(schema) || has_type(schema, "object") || schema.contains_key("unevaluatedProperties");
        (with_others && own) || (schema.contains_key("allOf") && self.is_object(schema, 0))
    }

    /// True when `schema`, or something it combines, describes an object.
    fn is_object(&self, schema: &Map<String, Value>, depth: usize) -> bool {
        if depth > MAX_COPIES {
            return false;
        }
        let inside = |value: &Value| value.as_object().is_some_and(|schema| self.is_object(schema, depth + 1));
        has_properties(schema)
            || has_type(schema, "object")
            || ["allOf", "anyOf", "oneOf"]
                .iter()
                .filter_map(|keyword| schema.get(*keyword)?.as_array())
                .any(|branches| branches.iter().any(inside))
            || schema.get("$ref").and_then(Value::as_str).and_then(|to| self.target(to)).is_some_and(inside)
    }

    /// Replaces a reference by an open copy of its target: the target itself is closed for everybody else.
    fn copy_reference(&mut self, schema: &mut Map<String, Value>, at: &Pointer) -> Result<(), SchemaFault> {
        let Some(Value::String(reference)) = schema.remove("$ref") else { return Ok(()) };
        self.copies += 1;
        let copy = self.target(&reference).filter(|_| self.copies <= MAX_COPIES).cloned();
        let Some(mut copy) = copy else {
            return Err(SchemaFault::new(
                at.as_str(),
                "a flattened type refers to a type that exists, and not to itself",
                "nest it under a field of its own instead of `#[serde(flatten)]`",
            )
            .saying(format!("`{reference}`")));
        };
        if let Value::Object(copied) = &mut copy {
            copied.remove("$defs");
        }
        match schema.entry("allOf").or_insert_with(|| json!([])) {
            Value::Array(parts) => parts.push(copy),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                *other = json!([copy])
            }
        }
        Ok(())
    }

    fn target(&self, reference: &str) -> Option<&Value> {
        self.original.pointer(reference.strip_prefix('#')?)
    }
}

fn has_properties(schema: &Map<String, Value>) -> bool {
    ["properties", "patternProperties"]
        .iter()
        .any(|keyword| schema.get(*keyword).and_then(Value::as_object).is_some_and(|named| !named.is_empty()))
}

/// True when nothing says which further properties there may be, and no choice of branches says it instead.
fn needs_closing(schema: &Map<String, Value>) -> bool {
    let says = |keyword: &str| schema.contains_key(keyword);
    let describes = says("properties")
        || says("patternProperties")
        || (has_type(schema, "object") && !says("const") && !says("enum"));
    describes && !says("additionalProperties") && !says("unevaluatedProperties")
}

fn is_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(anything) => *anything,
        Value::Object(object) => object.is_empty(),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}
