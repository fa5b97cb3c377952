//! What an exported schema must say, and must not.

use serde_json::{Map, Value};

use super::Document;
use super::bounds::compare;
use super::check::{Place, Planner, Unplanned};
use super::fault::SchemaFault;
use super::pointer::Pointer;
use super::walk::{self, has_type};

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
    if schema.keys().all(|keyword| is_annotation(keyword)) && !super::is_provided(schema) {
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

pub(super) fn is_annotation(keyword: &str) -> bool {
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

/// Refuses what cannot be enforced and defaults that their own schema refuses.
pub(super) fn enforceable(document: &Value) -> Result<(), SchemaFault> {
    let mut defaults = Vec::new();
    walk::every_ref(document, &mut Pointer::default(), &mut |schema, at| {
        if let Some(default) = schema.get("default") {
            defaults.push((at.as_str().to_owned(), default));
        }
        Ok(())
    })?;
    match accepted(document, &defaults) {
        Ok(verdict) => verdict,
        #[cfg(feature = "jsonschema")]
        Err(_) => super::general::enforceable(document, &defaults),
        #[cfg(not(feature = "jsonschema"))]
        Err(unplanned) => Err(unplanned.into_fault()),
    }
}

/// Whether each default is accepted by the schema that it stands in, as far as that is checked here.
fn accepted(document: &Value, defaults: &[(String, &Value)]) -> Result<Result<(), SchemaFault>, Unplanned> {
    let mut planner = Planner::of(document);
    let root = planner.place("")?;
    let places: Vec<Place> =
        defaults.iter().map(|(pointer, _)| planner.place(pointer)).collect::<Result<_, Unplanned>>()?;
    let check = planner.finish(root)?;
    let refused = defaults.iter().zip(places).find(|((_, default), place)| !check.accepts_at(*place, *default));
    Ok(refused.map_or(Ok(()), |((pointer, _), _)| Err(refused_default(pointer))))
}

/// A default that its own schema refuses.
pub(super) fn refused_default(pointer: &str) -> SchemaFault {
    SchemaFault::new(
        format!("{pointer}/default"),
        "a default is one of the values its own schema accepts",
        "change the default or the rule it breaks",
    )
}
