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
        if parts == Openness::Open {
            refuse_repeated(object, at)?;
        }
        walk::children(object, at, &mut |applies, child, at| match applies {
            AppliesTo::Same => self.place(child, parts, at),
            AppliesTo::Part | AppliesTo::Definition => self.place(child, Openness::Closed, at),
            AppliesTo::Question => Ok(()),
        })
    }

    /// True when several parts describe one object together.
    fn combines(&self, schema: &Map<String, Value>) -> bool {
        let says = |keyword: &&str| schema.contains_key(*keyword);
        let conditional = ["if", "then", "else", "dependentSchemas"].iter().any(says);
        let choice = ["anyOf", "oneOf", "$ref"].iter().any(says);
        let own = has_properties(schema) || schema.contains_key("unevaluatedProperties");
        // A choice of whole objects closes each of them, whether or not the type they share is stated around it.
        let partial = has_type(schema, "object") && (conditional || choice_with_nothing(schema));
        partial || (own && (conditional || choice)) || (schema.contains_key("allOf") && self.is_object(schema, 0))
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

/// A name that a flattened type repeats is read by one of the two only: no value for the other is ever accepted.
fn refuse_repeated(schema: &Map<String, Value>, at: &Pointer) -> Result<(), SchemaFault> {
    let own = schema.get("properties").and_then(Value::as_object);
    let branches = ["allOf", "anyOf", "oneOf"].iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten();
    for declared in branches.filter_map(|branch| branch.get("properties")?.as_object()) {
        let repeated = declared.iter().find(|(name, described)| {
            own.is_some_and(|own| own.contains_key(*name)) && described.get("const").is_none()
        });
        if let Some((name, _)) = repeated {
            return Err(SchemaFault::new(
                at.as_str(),
                "a flattened type declares other names than the type around it",
                "rename one of the two fields, or nest the type under a field of its own",
            )
            .saying(format!("`{name}`")));
        }
    }
    Ok(())
}

fn has_properties(schema: &Map<String, Value>) -> bool {
    ["properties", "patternProperties"]
        .iter()
        .any(|keyword| schema.get(*keyword).and_then(Value::as_object).is_some_and(|named| !named.is_empty()))
}

/// True when nothing says which further properties there may be, and no choice of branches says it instead.
fn needs_closing(schema: &Map<String, Value>) -> bool {
    let says = |keyword: &str| schema.contains_key(keyword);
    let elsewhere = ["allOf", "anyOf", "oneOf", "$ref", "const", "enum"].into_iter().any(says);
    let describes = has_properties(schema) || ((says("properties") || has_type(schema, "object")) && !elsewhere);
    describes && !says("additionalProperties") && !says("unevaluatedProperties") && !super::is_provided(schema)
}

/// True when one of the alternatives is to add nothing.
fn choice_with_nothing(schema: &Map<String, Value>) -> bool {
    let adds_nothing = |branch: &Value| {
        is_anything(branch) || branch.as_object().is_some_and(|object| object.len() == 1 && has_type(object, "object"))
    };
    ["anyOf", "oneOf"].iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten().any(adds_nothing)
}

fn is_anything(schema: &Value) -> bool {
    match schema {
        Value::Bool(anything) => *anything,
        Value::Object(object) => object.is_empty(),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}
