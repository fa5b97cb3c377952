//! Where schemas stand inside a schema.

use serde_json::{Map, Value};

use super::fault::SchemaFault;
use super::pointer::Pointer;

/// How a keyword holds schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// An object whose values are schemas; its keys are no keywords.
    Named,
}

/// What a keyword's schemas apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AppliesTo {
    /// The same value: these add to what the schema around them says.
    Same,
    /// The same value, or an item, as a question: what they say is no promise and is never closed.
    Question,
    /// A property or an item.
    Part,
    /// Nothing by themselves.
    Definition,
}

/// The keywords of draft 2020-12 that hold schemas.
pub(crate) fn keyword(name: &str) -> Option<(Holds, AppliesTo)> {
    Some(match name {
        "allOf" | "anyOf" | "oneOf" => (Holds::List, AppliesTo::Same),
        "then" | "else" => (Holds::One, AppliesTo::Same),
        "dependentSchemas" => (Holds::Named, AppliesTo::Same),
        "not" | "if" | "contains" | "propertyNames" => (Holds::One, AppliesTo::Question),
        "properties" | "patternProperties" => (Holds::Named, AppliesTo::Part),
        "prefixItems" => (Holds::List, AppliesTo::Part),
        "items" | "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => {
            (Holds::One, AppliesTo::Part)
        }
        "$defs" => (Holds::Named, AppliesTo::Definition),
        _ => return None,
    })
}

/// Visits every direct subschema of `schema`, with the place it stands at.
pub(crate) fn children(
    schema: &mut Map<String, Value>,
    at: &mut Pointer,
    visit: &mut dyn FnMut(AppliesTo, &mut Value, &mut Pointer) -> Result<(), SchemaFault>,
) -> Result<(), SchemaFault> {
    for (name, value) in schema.iter_mut() {
        let Some((holds, applies)) = keyword(name) else { continue };
        at.within(name, |at| match (holds, value) {
            (Holds::One, value) => visit(applies, value, at),
            (Holds::List, Value::Array(schemas)) => schemas
                .iter_mut()
                .enumerate()
                .try_for_each(|(index, schema)| at.within(&index.to_string(), |at| visit(applies, schema, at))),
            (Holds::Named, Value::Object(schemas)) => {
                schemas.iter_mut().try_for_each(|(name, schema)| at.within(name, |at| visit(applies, schema, at)))
            }
            (Holds::List | Holds::Named, _) => Err(SchemaFault::new(
                at.as_str(),
                "the keyword holds several schemas",
                "write a list or an object of schemas there",
            )),
        })?;
    }
    Ok(())
}

/// Visits every subschema, the root first.
pub(crate) fn every(
    schema: &mut Value,
    at: &mut Pointer,
    visit: &mut dyn FnMut(&mut Value, &Pointer) -> Result<(), SchemaFault>,
) -> Result<(), SchemaFault> {
    visit(schema, at)?;
    match schema {
        Value::Object(object) => children(object, at, &mut |_, child, at| every(child, at, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Ok(()),
    }
}

/// Visits every subschema, the root last.
pub(crate) fn every_after(
    schema: &mut Value,
    at: &mut Pointer,
    visit: &mut dyn FnMut(&mut Value, &Pointer) -> Result<(), SchemaFault>,
) -> Result<(), SchemaFault> {
    if let Value::Object(object) = schema {
        children(object, at, &mut |_, child, at| every_after(child, at, visit))?;
    }
    visit(schema, at)
}

/// The same for a document that stays as it is.
pub(crate) fn every_ref<'s>(
    schema: &'s Value,
    at: &mut Pointer,
    visit: &mut dyn FnMut(&'s Value, &Pointer) -> Result<(), SchemaFault>,
) -> Result<(), SchemaFault> {
    visit(schema, at)?;
    let Value::Object(object) = schema else { return Ok(()) };
    for (name, value) in object {
        let Some((holds, _)) = keyword(name) else { continue };
        at.within(name, |at| match (holds, value) {
            (Holds::One, value) => every_ref(value, at, visit),
            (Holds::List, Value::Array(schemas)) => schemas
                .iter()
                .enumerate()
                .try_for_each(|(index, schema)| at.within(&index.to_string(), |at| every_ref(schema, at, visit))),
            (Holds::Named, Value::Object(schemas)) => {
                schemas.iter().try_for_each(|(name, schema)| at.within(name, |at| every_ref(schema, at, visit)))
            }
            (Holds::List | Holds::Named, _) => Ok(()),
        })?;
    }
    Ok(())
}

/// True when `schema` names `wanted` as its type, alone or among others.
pub(crate) fn has_type(schema: &Map<String, Value>, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(several)) => several.iter().any(|one| one.as_str() == Some(wanted)),
        _ => false,
    }
}
