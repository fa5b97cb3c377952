//! Parts of a schema in words.

use serde_json::Value;

/// How many names or values a list shows.
const MAX_LISTED: usize = 24;

/// A type's name with its article.
pub(super) fn article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => "a list".to_owned(),
        "string" => "a text".to_owned(),
        "integer" | "object" => format!("an {name}"),
        other => format!("a {other}"),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn either(parts: &[String]) -> String {
    match parts {
        [] => "something else".to_owned(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}

/// A list, shortened where it is long.
pub(super) fn listed(parts: impl IntoIterator<Item = String>) -> String {
    let mut parts: Vec<String> = parts.into_iter().collect();
    let more = parts.len().saturating_sub(MAX_LISTED);
    if more == 0 {
        return either(&parts);
    }
    parts.truncate(MAX_LISTED);
    format!("{} and {more} more", parts.join(", "))
}

/// The properties that a place declares, with those of everything it combines.
pub(super) fn properties(schema: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|own| own.keys())
        .map(String::as_str)
        .collect();
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for branch in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            names.extend(properties(branch));
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// What a place expects, in one short phrase.
pub(super) fn expected(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(branches) = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array()) {
        let mut parts: Vec<String> = branches.iter().map(expected).collect();
        parts.dedup();
        return listed(parts);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return listed(values.iter().map(ToString::to_string));
    }
    if schema.get("$ref").is_some() {
        return "a value like the one it stands in".to_owned();
    }
    let kinds: Vec<String> = match schema.get("type") {
        Some(Value::String(name)) => vec![article(name)],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(article).collect(),
        _ => return "as its description says".to_owned(),
    };
    either(&kinds)
}

/// The range that two keywords span.
pub(super) fn range(schema: Option<&Value>, least: &str, greatest: &str, above: &str, below: &str) -> String {
    let named = |keyword: &str| schema.and_then(|schema| schema.get(keyword)).map(ToString::to_string);
    let low = named(least)
        .map(|limit| format!("from {limit}"))
        .or_else(|| named(above).map(|limit| format!("above {limit}")));
    let high = named(greatest)
        .map(|limit| format!("to {limit}"))
        .or_else(|| named(below).map(|limit| format!("below {limit}")));
    match (low, high) {
        (Some(low), Some(high)) => format!("{low} {high}"),
        (Some(low), None) => format!("{low} on"),
        (None, Some(high)) => format!("up {high}"),
        (None, None) => "that is accepted".to_owned(),
    }
}

/// How a format looks.
pub(super) fn example(format: &str) -> String {
    let example = match format {
        "date-time" => "2026-02-28T13:45:00Z",
        "date" => "2026-02-28",
        "time" => "13:45:00Z",
        "duration" => "PT1H30M",
        "email" => "name@example.org",
        "hostname" => "host.example.org",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" => "https://example.org/page",
        "uri-reference" | "iri-reference" => "/page",
        "uri-template" => "https://example.org/{page}",
        "uuid" => "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "json-pointer" => "/a/0",
        "relative-json-pointer" => "1/a",
        other => return format!("send a text that is a {other}"),
    };
    format!("send it as in \"{example}\"")
}
