//! What a model is shown means what the executor checks.
//!
//! For every registered capability, built in or fixture: what the shown schema accepts is accepted, and whatever is accepted
//! can be said in the shown schema. Both ways by sampling, with a general validator on the one side and the executor's own on
//! the other.

use capabilities as _;
use capability_core::__validation;
use capability_core::Registry;
use capability_core::surface::{Profile, shown};
use serde_json::{Map, Value};

use crate::sampler::{Choices, instance, mutated};

const EACH: usize = 120;

/// Without the nulls that stand for nothing: those of optional properties without another default.
fn without_nulls(value: &Value, schema: &Value, document: &Value) -> Value {
    let schema = resolved(schema, document);
    match value {
        Value::Object(object) => {
            let required: Vec<&str> = strings(schema.get("required"));
            let mut kept = Map::new();
            for (name, value) in object {
                let property = property_of(schema, name, document);
                let optional = !required.contains(&name.as_str());
                let default = property.is_some_and(|property| property.get("default").is_some_and(|d| !d.is_null()));
                if value.is_null() && optional && property.is_some() && !default {
                    continue;
                }
                let inner = property.map_or_else(|| value.clone(), |property| without_nulls(value, property, document));
                kept.insert(name.clone(), inner);
            }
            Value::Object(kept)
        }
        Value::Array(items) => {
            let of = schema.get("items");
            Value::Array(
                items
                    .iter()
                    .map(|item| of.map_or_else(|| item.clone(), |of| without_nulls(item, of, document)))
                    .collect(),
            )
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn resolved<'s>(schema: &'s Value, document: &'s Value) -> &'s Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| document.pointer(to.strip_prefix('#')?));
    if let Some(target) = target {
        return resolved(target, document);
    }
    // A choice between nothing and something is that something.
    let branches = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array());
    let some: Vec<&Value> = branches.into_iter().flatten().filter(|branch| branch["type"] != "null").collect();
    match some.as_slice() {
        [one] => resolved(one, document),
        _ => schema,
    }
}

fn property_of<'s>(schema: &'s Value, name: &str, document: &'s Value) -> Option<&'s Value> {
    let own = schema.get("properties").and_then(|properties| properties.get(name));
    own.or_else(|| {
        let parts = ["allOf", "anyOf", "oneOf"].iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten();
        parts.filter_map(|part| property_of(resolved(part, document), name, document)).next()
    })
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn what_is_shown_is_accepted_and_what_is_accepted_can_be_shown() {
    let registry = Registry::collect(&["capabilities", "capability-tests"]).unwrap();
    let (mut there, mut back) = (0, 0);
    for held in registry.iter() {
        let Ok(schemas) = held.schemas() else { continue };
        let (exported, entry) = (schemas.arguments(), held.entry());
        let wire = shown(exported);
        assert!(wire.to_string().len() <= exported.to_string().len() + 64, "`{entry}` grew");
        let mut choices = Choices::new(entry.name().as_str().len() as u64 + 5);
        for at in 0..EACH {
            let mut said = instance(&wire, &mut choices);
            let mut meant = instance(exported, &mut choices);
            if at % 3 == 0 {
                said = mutated(said, &mut choices);
                meant = mutated(meant, &mut choices);
            }
            if __validation::oracle(&wire, &said).unwrap() {
                there += 1;
                assert!(__validation::oracle(exported, &said).unwrap(), "`{entry}` is shown what it refuses: {said}");
            }
            if __validation::oracle(exported, &meant).unwrap() {
                back += 1;
                let sayable = without_nulls(&meant, exported, exported);
                assert!(__validation::oracle(&wire, &sayable).unwrap(), "`{entry}` cannot be told: {sayable}");
                assert!(__validation::oracle(exported, &sayable).unwrap(), "`{entry}` refuses: {sayable}");
            }
        }
    }
    assert!(there > 1_500 && back > 1_500, "{there} {back}: the samples say little");
}

#[test]
fn whatever_is_said_of_an_argument_is_still_said() {
    let registry = Registry::collect(&["capabilities", "capability-tests"]).unwrap();
    let mut said = 0;
    for held in registry.iter() {
        let Ok(schemas) = held.schemas() else { continue };
        let exported = schemas.arguments();
        let all = described(&shown(exported)).join("\n");
        for property in exported["properties"].as_object().into_iter().flatten() {
            let own = property.1.get("description").and_then(Value::as_str);
            let of_values = property.1.get("oneOf").and_then(Value::as_array).into_iter().flatten();
            let words = own.into_iter().chain(of_values.filter_map(|one| one["description"].as_str()));
            for words in words {
                said += 1;
                assert!(all.contains(words), "`{}` no longer says: {words}", held.entry());
            }
        }
    }
    assert!(said > 10, "{said}");
}

fn described(schema: &Value) -> Vec<String> {
    let own = schema.get("description").and_then(Value::as_str).map(ToOwned::to_owned);
    let below: Vec<&Value> = match schema {
        Value::Object(object) => object.values().collect(),
        Value::Array(items) => items.iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    own.into_iter().chain(below.into_iter().flat_map(described)).collect()
}

#[test]
fn a_strict_function_loses_nothing() {
    let registry = Registry::collect(&["capabilities", "capability-tests"]).unwrap();
    let (mut strict_ones, mut there, mut back) = (0, 0, 0);
    for held in registry.iter() {
        let Ok(schemas) = held.schemas() else { continue };
        let (exported, entry) = (schemas.arguments(), held.entry());
        let rendered = Profile::OpenAi.tool("tool", "Does it.", exported, &shown(exported));
        let tool = rendered.tool.unwrap();
        if tool["strict"] != true {
            assert!(!rendered.losses.is_empty(), "`{entry}` is not strict and does not say why");
            continue;
        }
        strict_ones += 1;
        let strict = &tool["parameters"];
        let mut choices = Choices::new(entry.name().as_str().len() as u64 + 9);
        for _ in 0..EACH / 2 {
            let said = instance(strict, &mut choices);
            if __validation::oracle(strict, &said).unwrap() {
                there += 1;
                assert!(__validation::oracle(exported, &said).unwrap(), "`{entry}` refuses a strict call: {said}");
            }
            let meant = instance(exported, &mut choices);
            if __validation::oracle(exported, &meant).unwrap() {
                back += 1;
                let full = filled(&meant, exported);
                assert!(__validation::oracle(strict, &full).unwrap(), "`{entry}` cannot be called strictly: {full}");
            }
        }
    }
    assert!(strict_ones > 20 && there > 1_000 && back > 1_000, "{strict_ones} {there} {back}");
}

/// With null, or its default, for whatever was left out.
fn filled(value: &Value, schema: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let mut full = object.clone();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let default = property.get("default").cloned().unwrap_or(Value::Null);
        let given = full.remove(name).unwrap_or(default);
        full.insert(name.clone(), filled(&given, property));
    }
    Value::Object(full)
}
