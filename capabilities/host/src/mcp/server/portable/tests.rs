use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use super::portable;

#[test]
fn a_list_of_types_becomes_alternatives_and_the_rest_stays() {
    for (schema, expected) in [
        (json!({ "type": "string", "minLength": 1 }), json!({ "type": "string", "minLength": 1 })),
        (json!({ "type": ["string"] }), json!({ "type": "string" })),
        (json!(true), json!(true)),
        (
            json!({ "type": ["string", "null"], "minLength": 2, "description": "Which.", "default": null }),
            json!({ "anyOf": [{ "type": "string", "minLength": 2 }, { "type": "null" }], "description": "Which.", "default": null }),
        ),
        (
            json!({ "type": ["string", "null"], "enum": ["a", "b", null] }),
            json!({ "anyOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null", "enum": [null] }] }),
        ),
        (
            json!({ "type": "object", "properties": { "type": { "type": ["integer", "null"], "maximum": 3 } } }),
            json!({ "type": "object", "properties": { "type": { "anyOf": [{ "type": "integer", "maximum": 3 }, { "type": "null" }] } } }),
        ),
        (
            json!({ "type": ["array", "null"], "items": { "type": ["string", "null"] }, "anyOf": [true] }),
            json!({ "anyOf": [true], "allOf": [{ "anyOf": [
                { "type": "array", "items": { "anyOf": [{ "type": "string" }, { "type": "null" }] } }, { "type": "null" }
            ] }] }),
        ),
        (
            json!({ "type": ["string", "null"], "enum": [5], "description": "None." }),
            json!({ "not": {}, "description": "None." }),
        ),
        (
            json!({ "type": ["string", "null"], "enum": [], "not": { "const": "a" }, "anyOf": [true] }),
            json!({ "not": {}, "anyOf": [true] }),
        ),
        (
            json!({ "type": "object", "properties": { "a": { "type": ["string", "null"], "enum": [5] } } }),
            json!({ "type": "object", "properties": { "a": { "not": {} } } }),
        ),
        (
            json!({ "unevaluatedProperties": { "type": ["string", "null"] }, "unevaluatedItems": { "type": ["integer", "null"] } }),
            json!({
                "unevaluatedProperties": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                "unevaluatedItems": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
            }),
        ),
    ] {
        let shown = portable(&schema);
        assert!(jsonschema::meta::is_valid(&shown), "{shown}");
        assert_eq!(shown, expected);
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        Just(json!(1.5)),
        Just(json!(2.0)),
        "[ab]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[ab]", inner, 0..3).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn schemas() -> impl Strategy<Value = Value> {
    let types = subsequence(vec!["null", "boolean", "integer", "number", "string", "array", "object"], 1..4);
    let more = select(vec![
        json!({}),
        json!({ "minimum": 0, "maxLength": 1, "maxItems": 1, "maxProperties": 1 }),
        json!({ "enum": [null, 1, 2.0, 1.5, "a", [], {}, true] }),
        json!({ "enum": [1.5] }),
        json!({ "unevaluatedProperties": { "type": ["string", "null"] }, "prefixItems": [true], "unevaluatedItems": false }),
        json!({ "required": ["a"], "pattern": "^a", "exclusiveMaximum": 2 }),
        json!({ "anyOf": [{ "type": ["string", "null"] }, { "type": "integer" }] }),
        json!({ "not": { "type": ["string", "null"] } }),
        json!({ "allOf": [{ "type": ["string", "integer"], "minLength": 1 }], "anyOf": [true] }),
    ]);
    let flat = (types, more).prop_map(|(types, mut schema)| {
        schema["type"] = types.into();
        schema
    });
    (flat.clone(), flat).prop_map(|(mut outer, inner)| {
        outer["items"] = inner.clone();
        outer["properties"] = json!({ "a": inner });
        outer
    })
}

fn lists_types(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.get("type").is_some_and(Value::is_array) || map.values().any(lists_types),
        Value::Array(list) => list.iter().any(lists_types),
        _ => false,
    }
}

proptest! {
    #[test]
    fn the_same_values_are_taken(schema in schemas(), value in values()) {
        let shown = portable(&schema);
        prop_assert!(!lists_types(&shown), "{shown}");
        prop_assert!(jsonschema::meta::is_valid(&shown), "{shown}");
        prop_assert_eq!(jsonschema::is_valid(&schema, &value), jsonschema::is_valid(&shown, &value), "{} {}", schema, shown);
    }
}
