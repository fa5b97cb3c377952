//! JSON Schema 2020-12 with a plain object at its root.

use serde_json::{Map, Value, json};

use super::super::projection::describe;
use super::{Loss, below};

/// How a property's name may look: another one makes the provider refuse every tool.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// The schema with a root that is an object and nothing else.
pub(super) fn schema(shown: &Value) -> Result<(Value, Vec<Loss>), Vec<Loss>> {
    let mut losses = Vec::new();
    let schema = plain_root(shown, &mut losses);
    let mut wrong = Vec::new();
    let named = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, _) in named.filter(|(name, _)| !is_name(name)) {
        let why = "a property's name has 1 to 64 characters of `[A-Za-z0-9_.-]` there; the tool is left out";
        wrong.push(Loss::new(&below("/properties", name), "property name", why));
    }
    if wrong.is_empty() { Ok((schema, losses)) } else { Err(wrong) }
}

/// A root that is an object and nothing else: what its alternatives and parts declare, all of it optional that not all of them
/// require.
pub(super) fn plain_root(shown: &Value, losses: &mut Vec<Loss>) -> Value {
    let mut root = shown.as_object().cloned().unwrap_or_default();
    let mut branches: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for keyword in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(parts)) = root.remove(keyword) {
            losses.push(Loss::new(
                "",
                keyword,
                "a root is one plain object there: the properties of all alternatives stand side by side, and a call that \
                 mixes them is refused",
            ));
            branches.push((keyword, parts));
        }
    }
    for (keyword, parts) in branches {
        let parts: Vec<&Map<String, Value>> = parts.iter().filter_map(Value::as_object).collect();
        merge(&mut root, keyword, &parts);
    }
    root.insert("type".to_owned(), json!("object"));
    root.entry("properties").or_insert_with(|| json!({}));
    Value::Object(root)
}

fn merge(root: &mut Map<String, Value>, keyword: &str, parts: &[&Map<String, Value>]) {
    let mut required: Vec<Value> = root.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let of = |part: &Map<String, Value>| part.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for name in parts.iter().flat_map(|part| of(part)) {
        let everywhere = keyword == "allOf" || parts.iter().all(|part| of(part).contains(&name));
        if everywhere && !required.contains(&name) {
            required.push(name);
        }
    }
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(properties) = properties else { return };
    let mut words = Vec::new();
    for part in parts {
        let own = part.get("properties").and_then(Value::as_object);
        let names: Vec<String> = own.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
        if !names.is_empty() {
            words.push(names.join(", "));
        }
        for (name, property) in own.into_iter().flatten() {
            match properties.get(name) {
                None => {
                    properties.insert(name.clone(), property.clone());
                }
                Some(other) if other != property => {
                    let mut either = match other.get("anyOf") {
                        Some(Value::Array(several)) if other.as_object().is_some_and(|o| o.len() == 1) => {
                            several.clone()
                        }
                        _ => vec![other.clone()],
                    };
                    if !either.contains(property) {
                        either.push(property.clone());
                    }
                    properties.insert(name.clone(), json!({ "anyOf": either }));
                }
                Some(_) => {}
            }
        }
    }
    if !required.is_empty() {
        root.insert("required".to_owned(), Value::Array(required));
    }
    // Nobody may add what none of them declares.
    root.remove("unevaluatedProperties");
    root.insert("additionalProperties".to_owned(), json!(false));
    if keyword != "allOf" && words.len() > 1 {
        describe(root, &format!("Either {}.", words.join("; or ")));
    }
}
