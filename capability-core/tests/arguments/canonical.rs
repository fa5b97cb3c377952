//! One text for each value: laws over any JSON, and what defaults do to it.

use capability_core::__validation::{Validators, hold_for_arguments, hold_for_schema, normalised, schemas_of};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::sampler::{Choices, instance, mutated};
use crate::zoo::{self, Holds};

/// A schema that accepts every object: any JSON, said deliberately.
fn anything() -> Validators {
    let any = json!({
        "type": ["null", "boolean", "number", "string", "array", "object"],
        "items": { "$ref": "#/$defs/Any" },
        "additionalProperties": { "$ref": "#/$defs/Any" },
    });
    let document = json!({
        "type": "object",
        "additionalProperties": { "$ref": "#/$defs/Any" },
        "$defs": { "Any": any },
    });
    Validators::compile(&normalised(document).expect("a schema")).expect("it compiles")
}

fn text(validators: &Validators, raw: &str) -> String {
    let arguments = validators.arguments(raw.as_bytes()).unwrap_or_else(|fault| panic!("{raw}: {fault}"));
    String::from_utf8(arguments.as_bytes().to_vec()).expect("UTF-8")
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        (-1_000_000_i32..1_000_000).prop_map(|number| Value::from(f64::from(number))),
        "[^\u{0}]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[^\u{0}]{0,6}", inner, 0..8)
                .prop_map(|object| Value::Object(object.into_iter().collect())),
        ]
    })
}

/// The same value with its keys in another order and with white space, escapes and exponents.
pub fn respelt(value: &Value, choices: &mut Choices) -> String {
    let space = |choices: &mut Choices| if choices.one_in(3) { " \n" } else { "" };
    match value {
        Value::Object(object) => {
            let mut entries: Vec<(&String, &Value)> = object.iter().collect();
            for index in (1..entries.len()).rev() {
                entries.swap(index, choices.below(index + 1));
            }
            let entries: Vec<String> = entries
                .into_iter()
                .map(|(key, value)| {
                    format!("{}{}:{}{}", escaped(key, choices), space(choices), space(choices), respelt(value, choices))
                })
                .collect();
            format!("{{{}{}}}", entries.join(","), space(choices))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| respelt(item, choices)).collect();
            format!("[{}{}]", space(choices), items.join(", "))
        }
        Value::String(text) => escaped(text, choices),
        Value::Number(number)
            if !number.is_f64() && number.as_i64().is_some_and(|small| small.unsigned_abs() < 1 << 50) =>
        {
            match choices.below(3) {
                0 => format!("{number}.0"),
                1 => format!("{number}e0"),
                _ => number.to_string(),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn escaped(text: &str, choices: &mut Choices) -> String {
    let units = text.chars().map(|character| {
        if choices.one_in(3) || u32::from(character) < 0x20 || matches!(character, '"' | '\\') {
            character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect()
        } else {
            character.to_string()
        }
    });
    let units: Vec<String> = units.collect();
    format!("\"{}\"", units.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn spelling_does_not_matter(value in prop::collection::btree_map("[a-z\u{e9}\"\\\\]{0,4}", json_value(), 0..6), seed: u64) {
        let validators = anything();
        let value = Value::Object(value.into_iter().collect());
        let plain = text(&validators, &value.to_string());
        prop_assert_eq!(&plain, &text(&validators, &respelt(&value, &mut Choices::new(seed))));
        prop_assert_eq!(&plain, &text(&validators, &plain));
        let back: Value = serde_json::from_str(&plain).expect("JSON");
        let arguments = validators.arguments(value.to_string().as_bytes()).expect("accepted");
        for (name, value) in back.as_object().expect("an object") {
            prop_assert_eq!(arguments.property(name), Some(value.clone()));
        }
    }

    #[test]
    fn values_that_differ_have_texts_that_differ(left in json_value(), right in json_value()) {
        let validators = anything();
        let of = |value: &Value| text(&validators, &json!({ "value": value }).to_string());
        let same = of(&left) == of(&right);
        let numeric = |value: &Value| serde_json::from_str::<Value>(&of(value)).expect("JSON");
        prop_assert_eq!(same, numeric(&left) == numeric(&right));
    }

    #[test]
    fn any_bytes_are_answered(raw in prop::collection::vec(any::<u8>(), 0..200)) {
        let schemas = schemas_of::<zoo::Renamed, ()>().expect("schemas");
        hold_for_arguments(&Validators::compile(&schemas).expect("it compiles"), &schemas, &raw);
    }
}

#[test]
fn keys_are_sorted_by_bytes_and_escapes_are_minimal() {
    let validators = anything();
    assert_eq!(
        text(
            &validators,
            r#"{ "é":1, "z":2, "Z":3, "":4, "a\u0062":5, "a":"\u0001\/\u00e9\ud83d\ude00\b\f\n\r\t\"\\\u007f" }"#
        ),
        "{\"\":4,\"Z\":3,\"a\":\"\\u0001/é😀\\b\\f\\n\\r\\t\\\"\\\\\u{7f}\",\"ab\":5,\"z\":2,\"é\":1}"
    );
}

#[test]
fn neighbouring_large_integers_stay_apart() {
    let validators = anything();
    let of = |number: &str| text(&validators, &format!(r#"{{"n":{number}}}"#));
    assert_ne!(of("9007199254740992"), of("9007199254740993"));
    assert_eq!(of("30.0"), of("30"));
    assert_eq!(of("-0.0"), of("0"));
    assert_eq!(of("-0"), of("0"));
    assert_ne!(of("\"7\""), of("7"));
}

#[derive(JsonSchema, Serialize, Deserialize, Debug, PartialEq)]
struct WithDefaults {
    #[serde(default = "ten")]
    limit: u32,
    #[serde(default)]
    inner: Inner,
    #[serde(default)]
    list: Vec<Inner>,
    #[serde(default)]
    by_name: std::collections::BTreeMap<String, Inner>,
    maybe: Option<Inner>,
    #[serde(default)]
    none: Option<u8>,
}

#[derive(JsonSchema, Serialize, Deserialize, Debug, PartialEq, Default)]
struct Inner {
    #[serde(default)]
    deep: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
}

fn ten() -> u32 {
    10
}

#[test]
fn a_default_left_out_and_the_same_written_are_one_text() {
    let schemas = schemas_of::<WithDefaults, WithDefaults>().expect("schemas");
    let validators = Validators::compile(&schemas).expect("it compiles");
    let complete = r#"{"by_name":{},"inner":{"deep":false},"limit":10,"list":[],"none":null}"#;
    assert_eq!(text(&validators, "{}"), complete);
    for same in [r#"{"limit":10}"#, r#"{"limit":10.0,"inner":{}}"#, r#"{"inner":{"deep":false},"none":null}"#, complete]
    {
        assert_eq!(text(&validators, same), complete, "{same}");
    }
    assert_eq!(
        text(&validators, r#"{"list":[{},{"deep":true}],"by_name":{"a":{}},"maybe":{}}"#),
        r#"{"by_name":{"a":{"deep":false}},"inner":{"deep":false},"limit":10,"list":[{"deep":false},{"deep":true}],"maybe":{"deep":false},"none":null}"#
    );
    let typed: WithDefaults = serde_json::from_str(&text(&validators, "{}")).expect("typed");
    assert_eq!(typed, serde_json::from_str::<WithDefaults>("{}").expect("typed"));
}

#[test]
fn defaults_of_recursive_types_end() {
    let endless = json!({
        "type": "object",
        "properties": { "next": { "$ref": "#/$defs/N", "default": {} } },
        "$defs": { "N": { "type": "object", "properties": { "next": { "$ref": "#/$defs/N", "default": {} } } } },
    });
    let schemas = normalised(endless).expect("a schema");
    assert!(Validators::compile(&schemas).expect_err("a fault").to_string().contains("a default ends"));
}

#[test]
fn defaults_do_not_multiply_without_end() {
    let large: Map<String, Value> = (0..500).map(|index| (format!("key {index}"), json!("some text"))).collect();
    let item = json!({
        "type": "object",
        "properties": { "large": { "type": "object", "additionalProperties": { "type": "string" }, "default": large } },
    });
    let document = json!({ "type": "object", "properties": { "list": { "type": "array", "items": item } } });
    let validators = Validators::compile(&normalised(document).expect("a schema")).expect("it compiles");
    assert!(validators.arguments(br#"{"list":[{},{}]}"#).is_ok());
    let many = format!(r#"{{"list":[{}{{}}]}}"#, "{},".repeat(20_000));
    let fault = validators.arguments(many.as_bytes()).expect_err("refused");
    assert_eq!(fault.code, capability_core::ArgumentCode::TooLarge);
}

/// What the fuzzers run, from seeds and random changes of them.
#[test]
fn laws_hold_on_damaged_texts() {
    let mut choices = Choices::new(11);
    let schemas = schemas_of::<Holds<zoo::Nested>, ()>().expect("schemas");
    let validators = Validators::compile(&schemas).expect("it compiles");
    for _ in 0..4_000 {
        let sample = instance(schemas.arguments(), &mut choices);
        hold_for_arguments(&validators, &schemas, &damaged(sample.to_string(), &mut choices));
    }
    let documents = [
        schemas_of::<zoo::Nested, ()>(),
        schemas_of::<zoo::FlatTwo, ()>(),
        schemas_of::<zoo::Renamed, ()>(),
        schemas_of::<Holds<zoo::Expression>, ()>(),
        schemas_of::<zoo::Bounded, ()>(),
    ];
    for schemas in documents {
        let document = schemas.expect("schemas").arguments().clone();
        for _ in 0..250 {
            let changed = mutated(document.clone(), &mut choices).to_string();
            hold_for_schema(changed.as_bytes());
            hold_for_schema(&damaged(changed, &mut choices));
        }
    }
}

pub fn damaged(text: String, choices: &mut Choices) -> Vec<u8> {
    let mut bytes = text.into_bytes();
    for _ in 0..choices.below(4) {
        let at = choices.below(bytes.len());
        match choices.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, *choices.of(b"{}[]\",:\\0e.-9\x00\xff").unwrap_or(&b'x')),
            2 if !bytes.is_empty() => {
                bytes.remove(at);
            }
            _ => {
                let part = bytes.get(at..(at + 12).min(bytes.len())).unwrap_or_default().to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}
