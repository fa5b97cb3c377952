//! Choices inside types that hold themselves, checked in time that grows with the arguments and not with a power of them.
//!
//! A validator tries every alternative. Where several of them lead back to the choice, each level of nesting multiplies
//! the work, and a few hundred bytes keep a processor busy for hours. So an alternative that leads back is looked into
//! only after a shallow test, and no two of them may pass that test for one value.

use serde_json::{Map, Value, json};

use super::fault::SchemaFault;
use super::pointer::Pointer;
use super::{names, walk};

/// The document as it is compiled: it accepts exactly what `document` accepts.
pub(crate) fn guarded(document: &Value) -> Result<Value, SchemaFault> {
    if let Some(reference) = circle(document) {
        return Err(SchemaFault::new(
            reference.strip_prefix('#').unwrap_or_default(),
            "a type is more than itself: some value ends every way through it",
            "give the alternative that is only the type again a field or a tag of its own",
        ));
    }
    let mut guarded = document.clone();
    walk::every_after(&mut guarded, &mut Pointer::default(), &mut |schema, at| {
        let Value::Object(object) = schema else { return Ok(()) };
        let branches = |keyword: &str| object.get(keyword).and_then(Value::as_array);
        if object.contains_key("unevaluatedProperties")
            && ["allOf", "anyOf", "oneOf"].iter().filter_map(|keyword| branches(keyword)).flatten().any(leads_back)
        {
            return Err(SchemaFault::new(
                at.as_str(),
                "a flattened type does not hold the type around it",
                "nest it under a field of its own instead of `#[serde(flatten)]`",
            ));
        }
        if branches("allOf").into_iter().flatten().filter(|part| leads_back(part)).count() > 1 {
            return Err(SchemaFault::new(
                at.as_str(),
                "a type holds itself through one of its parts",
                "refer to the type once",
            ));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = object.get_mut(keyword) {
                guard(branches, document, at)?;
            }
        }
        Ok(())
    })?;
    Ok(guarded)
}

/// A reference that leads back to itself without going into the value: whether it accepts a value would be asked by asking
/// whether it accepts that value.
fn circle(document: &Value) -> Option<&str> {
    let mut direct = Vec::new();
    let definitions = document.get("$defs").and_then(Value::as_object);
    let named = definitions.into_iter().flat_map(|named| named.values());
    core::iter::once(document).chain(named).for_each(|schema| of_the_same(schema, &mut direct));
    direct.into_iter().find(|start| {
        let mut waiting = vec![*start];
        let mut seen: Vec<&str> = Vec::new();
        while let Some(reference) = waiting.pop() {
            let mut next = Vec::new();
            // A reference whose target is not found is refused by others.
            if let Some(target) = reference.strip_prefix('#').and_then(|to| document.pointer(&names::decoded(to))) {
                of_the_same(target, &mut next);
            }
            if next.contains(start) {
                return true;
            }
            next.retain(|reference| !seen.contains(reference));
            seen.extend(&next);
            waiting.extend(next);
        }
        false
    })
}

/// Every reference that is asked about the very value that `schema` is.
fn of_the_same<'s>(schema: &'s Value, references: &mut Vec<&'s str>) {
    let Value::Object(object) = schema else { return };
    references.extend(object.get("$ref").and_then(Value::as_str));
    for (keyword, value) in object {
        match (keyword.as_str(), value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                branches.iter().for_each(|branch| of_the_same(branch, references));
            }
            ("not" | "if" | "then" | "else", inner) => of_the_same(inner, references),
            ("dependentSchemas", Value::Object(inner)) => {
                inner.values().for_each(|inner| of_the_same(inner, references))
            }
            _ => {}
        }
    }
}

/// The place in the exported document that a place in the compiled one stands for.
pub(crate) fn exported(document: &Value, compiled: &str) -> String {
    let mut exported = String::with_capacity(compiled.len());
    let mut node = Some(document);
    for step in compiled.split('/').skip(1) {
        let next = node.and_then(|node| node.pointer(&format!("/{step}")));
        let ours = matches!(step, "then" | "else") && next.is_none() && node.is_some_and(Value::is_object);
        if !ours {
            exported.push('/');
            exported.push_str(step);
            node = next;
        }
    }
    exported
}

fn guard(branches: &mut [Value], document: &Value, at: &Pointer) -> Result<(), SchemaFault> {
    let back: Vec<(usize, Value)> = branches
        .iter()
        .enumerate()
        .filter(|(_, branch)| leads_back(branch))
        .map(|(index, branch)| (index, shallow(branch, document)))
        .collect();
    if back.len() < 2 {
        return Ok(());
    }
    for (index, (_, one)) in back.iter().enumerate() {
        if back.iter().skip(index + 1).any(|(_, other)| !disjoint(one, other)) {
            return Err(SchemaFault::new(
                at.as_str(),
                "alternatives of a type that holds itself are told apart without looking into them",
                "give the enum a tag, or each alternative a required field that the others do not have",
            ));
        }
    }
    for (index, test) in back {
        if let Some(branch) = branches.get_mut(index) {
            let full = branch.take();
            *branch = json!({ "if": test, "then": full, "else": false });
        }
    }
    Ok(())
}

/// Whether no value can fit two of `branches`, as far as that shows without looking into them.
pub(crate) fn are_disjoint(branches: &[Value], document: &Value) -> bool {
    let tests: Vec<Value> = branches.iter().map(|branch| shallow(branch, document)).collect();
    tests.iter().enumerate().all(|(at, one)| tests.iter().skip(at + 1).all(|other| disjoint(one, other)))
}

/// True when a reference stands anywhere inside: references are left over only where types hold themselves.
fn leads_back(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(leads_back),
        Value::Object(object) => object.contains_key("$ref") || object.values().any(leads_back),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// What can be said of a value that `branch` accepts without looking into it.
fn shallow(branch: &Value, document: &Value) -> Value {
    let target = |schema: &Value| {
        let to = schema.get("$ref").and_then(Value::as_str)?.strip_prefix('#')?;
        document.pointer(to).cloned()
    };
    let branch = target(branch).unwrap_or_else(|| branch.clone());
    let branch = branch.get("then").unwrap_or(&branch);
    let mut test = Map::new();
    for keyword in ["type", "required", "const", "enum"] {
        if let Some(value) = branch.get(keyword) {
            test.insert(keyword.to_owned(), value.clone());
        }
    }
    let properties = branch.get("properties").and_then(Value::as_object);
    let fixed: Map<String, Value> = properties
        .into_iter()
        .flatten()
        .filter(|(_, property)| property.get("const").is_some() || property.get("enum").is_some())
        .map(|(name, property)| (name.clone(), property.clone()))
        .collect();
    if !fixed.is_empty() {
        test.insert("properties".to_owned(), Value::Object(fixed));
    }
    if let (Some(properties), Some(false), None) =
        (properties, branch.get("additionalProperties").and_then(Value::as_bool), branch.get("patternProperties"))
    {
        let names: Vec<&String> = properties.keys().collect();
        test.insert("propertyNames".to_owned(), json!({ "enum": names }));
    }
    Value::Object(test)
}

/// True when no value passes both tests.
fn disjoint(one: &Value, other: &Value) -> bool {
    let kind = |test: &Value| test.get("type").and_then(Value::as_str).map(ToOwned::to_owned);
    if let (Some(one), Some(other)) = (kind(one), kind(other))
        && one != other
        && [&one, &other].iter().all(|name| *name != "number" && *name != "integer")
    {
        return true;
    }
    if kind(one).as_deref() != Some("object") || kind(other).as_deref() != Some("object") {
        return false;
    }
    lacks(one, other) || lacks(other, one) || tagged_apart(one, other)
}

/// True when `one` requires a property that `other` does not have.
fn lacks(one: &Value, other: &Value) -> bool {
    let Some(allowed) = other.pointer("/propertyNames/enum").and_then(Value::as_array) else { return false };
    one.get("required").and_then(Value::as_array).into_iter().flatten().any(|name| !allowed.contains(name))
}

/// True when both require one property and fix it to different values.
fn tagged_apart(one: &Value, other: &Value) -> bool {
    let values = |test: &Value, name: &Value| -> Option<Vec<Value>> {
        test.get("required")?.as_array()?.contains(name).then_some(())?;
        let property = test.get("properties")?.get(name.as_str()?)?;
        property.get("const").map(|value| vec![value.clone()]).or_else(|| property.get("enum")?.as_array().cloned())
    };
    one.get("required").and_then(Value::as_array).into_iter().flatten().any(|name| {
        match (values(one, name), values(other, name)) {
            (Some(one), Some(other)) => !one.iter().any(|value| other.contains(value)),
            _ => false,
        }
    })
}
