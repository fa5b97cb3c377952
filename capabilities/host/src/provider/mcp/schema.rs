//! Whether a foreign schema can be used without following it somewhere: not nested too deeply, no part of it within itself,
//! and nothing outside it.

use std::collections::HashMap;

use serde_json::Value;

/// How deep a schema may be nested, references followed.
const MAX_DEPTH: usize = 64;

/// The dialects that the validator knows.
const DIALECTS: [&str; 4] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
];

/// Keywords that lead somewhere else than a pointer within the text does, or change where pointers lead. `$anchor` is none of them:
/// it only gives a place a name, and a reference by name is not followed.
const LEADING_AWAY: [&str; 5] = ["$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"];

/// Keywords whose value is data and no schema.
pub const DATA: [&str; 5] = ["const", "enum", "default", "examples", "example"];
/// Keywords whose value is an object of schemas by names that anybody may choose.
pub const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Whether it is.
pub fn is_bounded(schema: &Value) -> bool {
    let dialect = schema.get("$schema");
    let is_known = dialect.is_none_or(|dialect| {
        dialect.as_str().is_some_and(|dialect| DIALECTS.contains(&dialect.strip_suffix('#').unwrap_or(dialect)))
    });
    let mut walk = Walk { root: schema, followed: HashMap::new() };
    is_known && walk.schema(schema, 0).is_some()
}

/// How far a target has been followed.
#[derive(Clone, Copy)]
enum Followed {
    /// Being in it once more is being in it within itself.
    Entered,
    /// It is well, and so deep.
    Left(usize),
}

struct Walk<'a> {
    root: &'a Value,
    followed: HashMap<&'a str, Followed>,
}

impl<'a> Walk<'a> {
    /// How deep a schema is; none when it is not to be used. `depth` is how deep it stands in what was followed so far.
    fn schema(&mut self, schema: &'a Value, depth: usize) -> Option<usize> {
        let object = match schema {
            Value::Object(object) => object,
            Value::Bool(_) => return Some(0),
            _ => return None,
        };
        if depth >= MAX_DEPTH {
            return None;
        }
        let mut deepest = 0;
        for (key, value) in object {
            let below = match key.as_str() {
                key if LEADING_AWAY.contains(&key) => return None,
                "$id" | "id" if value.is_string() && !core::ptr::eq(schema, self.root) => return None,
                "$schema" if !core::ptr::eq(schema, self.root) => return None,
                "$ref" => self.reference(value.as_str()?, depth)?,
                key if DATA.contains(&key) => data(value, depth)?,
                key if NAMED.contains(&key) => {
                    let mut deepest = 0;
                    for value in value.as_object()?.values() {
                        deepest = deepest.max(self.schema(value, depth + 1)?);
                    }
                    deepest
                }
                _ => self.anything(value, depth + 1)?,
            };
            deepest = deepest.max(below + 1);
        }
        (depth + deepest <= MAX_DEPTH).then_some(deepest)
    }

    /// The value of a keyword that may hold schemas: what is no object or list holds none.
    fn anything(&mut self, value: &'a Value, depth: usize) -> Option<usize> {
        match value {
            Value::Object(_) => self.schema(value, depth),
            Value::Array(items) => {
                let mut deepest = 0;
                for item in items {
                    deepest = deepest.max(self.anything(item, depth + 1)?);
                }
                (depth < MAX_DEPTH).then_some(deepest + 1)
            }
            _ => Some(0),
        }
    }

    fn reference(&mut self, reference: &'a str, depth: usize) -> Option<usize> {
        match self.followed.get(reference) {
            Some(Followed::Entered) => return None,
            Some(Followed::Left(deepest)) => return (depth + deepest < MAX_DEPTH).then_some(deepest + 1),
            None => {}
        }
        // The whole is within itself wherever it is referred to, and what leads outside is not followed.
        let pointer = reference.strip_prefix('#').filter(|pointer| pointer.starts_with('/'))?;
        // An escaped pointer could spell one place in two ways.
        let target = (!pointer.contains('%')).then(|| self.root.pointer(pointer)).flatten()?;
        self.followed.insert(reference, Followed::Entered);
        let deepest = self.schema(target, depth + 1)?;
        self.followed.insert(reference, Followed::Left(deepest));
        Some(deepest + 1)
    }
}

/// Data is only nested.
fn data(value: &Value, depth: usize) -> Option<usize> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let below = |values: &mut dyn Iterator<Item = &Value>| -> Option<usize> {
        let mut deepest = 0;
        for value in values {
            deepest = deepest.max(data(value, depth + 1)?);
        }
        Some(deepest + 1)
    };
    match value {
        Value::Object(object) => below(&mut object.values()),
        Value::Array(items) => below(&mut items.iter()),
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::is_bounded;
    use serde_json::{Map, Value, json};

    #[test]
    fn what_real_servers_send_can_be_used() {
        for schema in [
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"type": ["boolean", "string"]}}}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}),
            json!({"type": "object", "properties": {"$ref": {"type": "string"}, "id": {"type": "string"}, "const": {"type": "null"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"anyOf": [{"type": "null"}, {"format": "uri"}]}}}),
            json!({"type": "object", "default": {"$ref": "http://x"}, "examples": [{"$ref": "#"}]}),
            json!({"$id": "https://example.com/a", "type": "object", "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$anchor": "address", "type": "object"}}}),
        ] {
            assert!(is_bounded(&schema), "{schema}");
        }
    }

    #[test]
    fn what_leads_into_itself_or_away_is_not() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"type": "object", "$ref": "http://127.0.0.1:9/s.json"}),
            json!({"type": "object", "properties": {"child": {"$ref": "#/$defs/N"}},
                "$defs": {"N": {"type": "object", "properties": {"child": {"$ref": "#/$defs/N"}}}}}),
            json!({"properties": {"a": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"items": {"$ref": "#/$defs/A"}}}}),
            json!({"properties": {"a": {"properties": {"b": {"$ref": "#/properties/a"}}}}}),
            // Two spellings of one place, each within the other.
            json!({"properties": {"a": {"$ref": "#/$defs/x~1y"}}, "$defs": {"x/y": {"items": {"$ref": "#/%24defs/x~1y"}}}}),
            json!({"$ref": "#/nope"}),
            json!({"$ref": "other.json#/a"}),
            json!({"$ref": 4}),
            json!({"$ref": "#name", "$defs": {"a": {"$anchor": "name"}}}),
            json!({"$dynamicRef": "#/$defs/a", "$defs": {"a": {}}}),
            json!({"properties": {"a": {"$id": "http://elsewhere/", "type": "null"}}}),
            json!({"$schema": "https://example.com/my-dialect"}),
            json!({"properties": [{"type": "null"}]}),
            json!({"properties": {"a": 4}}),
        ] {
            assert!(!is_bounded(&schema), "{schema}");
        }
    }

    /// No message is nested deeper than the reader of JSON takes: 128 levels.
    #[test]
    fn neither_nesting_nor_a_chain_is_followed_for_ever() {
        let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(is_bounded(&nested(60)) && !is_bounded(&nested(70)) && !is_bounded(&nested(120)));
        let listed = (0..120).fold(json!({}), |inner, _| json!([inner]));
        assert!(!is_bounded(&json!({"anyOf": listed})) && !is_bounded(&json!({"const": listed})));
        let chain = |length: usize| {
            let link = |at: usize| (format!("d{at}"), json!({"items": {"$ref": format!("#/$defs/d{}", at + 1)}}));
            let mut links: Map<String, Value> = (0..length).map(link).collect();
            links.insert(format!("d{length}"), json!({}));
            json!({"$ref": "#/$defs/d0", "$defs": links})
        };
        assert!(is_bounded(&chain(10)) && !is_bounded(&chain(10_000)));
        // Every level refers twice to the next: thousands of ways down, and each level is looked at once.
        let twice = |at: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            (format!("d{at}"), json!({"anyOf": [next, next]}))
        };
        let mut levels: Map<String, Value> = (0..12).map(twice).collect();
        levels.insert("d12".to_owned(), json!({}));
        assert!(is_bounded(&json!({"$ref": "#/$defs/d0", "$defs": levels})));
    }
}
