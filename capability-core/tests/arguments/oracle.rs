//! The check of our own against a general validator: one verdict for every value, and the same mistakes told of it.

use capability_core::__validation::{Oracle, normalised, schemas_of};
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::canonical::respelt;
use crate::sampler::{self, Choices};
use crate::zoo::{self, Holds};

/// How many values are generated for each type, and each is a call's argument and a result.
const VALUES: usize = 1_300;

/// How many values were judged, and how many accepted.
#[derive(Default, Debug)]
struct Counts {
    judged: usize,
    accepted: usize,
}

impl Counts {
    fn count(&mut self, verdict: Option<bool>) {
        self.judged += usize::from(verdict.is_some());
        self.accepted += usize::from(verdict == Some(true));
    }
}

fn agree<T: JsonSchema>(seed: u64, counts: &mut Counts) {
    let name = core::any::type_name::<T>();
    let schemas = schemas_of::<Holds<T>, Holds<T>>().unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let oracle = Oracle::of(&schemas).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    assert!(!oracle.is_needed(), "{name} is checked by the core itself");
    let mut choices = Choices::new(seed);
    for at in 0..VALUES {
        let argument = sample(schemas.arguments(), &mut choices);
        let text = if at % 4 == 0 { respelt(&argument, &mut choices) } else { argument.to_string() };
        counts.count(oracle.hold_for_arguments(text.as_bytes()));
        counts.count(oracle.hold_for_result(&sample(schemas.result(), &mut choices).to_string()));
    }
}

fn sample(document: &Value, choices: &mut Choices) -> Value {
    let sample = sampler::instance(document, choices);
    if choices.one_in(2) { sample } else { sampler::mutated(sample, choices) }
}

macro_rules! zoo {
    ($($type:ty),* $(,)?) => {
        #[test]
        fn both_judge_every_value_of_every_type_alike() {
            let mut counts = Counts::default();
            $(agree::<$type>(counts.judged as u64 + 5, &mut counts);)*
            println!("{counts:?}");
            assert!(counts.judged >= 100_000, "{counts:?}");
            assert!(counts.accepted * 4 >= counts.judged, "the values hardly ever meet their schemas: {counts:?}");
            assert!(counts.accepted * 4 <= counts.judged * 3, "hardly a value is refused: {counts:?}");
        }
    };
}

zoo! {
    bool, u8, i64, u64, f64, String, (), zoo::Empty, zoo::Sized_, zoo::NonZero, zoo::Bounded, zoo::Floats, zoo::Char,
    Option<u8>, zoo::Optional, zoo::Plain, zoo::Documented, zoo::External, zoo::Internal, zoo::InternalClosed,
    zoo::Adjacent, zoo::Untagged, zoo::FlatStruct, zoo::FlatMap, zoo::FlatExternal, zoo::FlatInternal, zoo::FlatTwo,
    zoo::FlatOption, zoo::List, zoo::Tree, zoo::Ping, zoo::Expression, zoo::Maps, zoo::Tuples, zoo::Transparent, zoo::Bytes,
    zoo::Nested, zoo::Results, zoo::Renamed, zoo::Defaulted, zoo::Denying, zoo::Addresses, zoo::Dated, zoo::IntegerKeys,
    zoo::Lasts, zoo::Stepped,
}

/// Keywords as types seldom combine them.
fn documents() -> Vec<Value> {
    let with = |schema: Value| json!({ "type": "object", "properties": { "value": schema } });
    vec![
        with(
            json!({ "type": "array", "uniqueItems": true, "maxItems": 40, "items": { "type": ["null", "boolean", "number", "string", "array", "object"], "maxItems": 3 } }),
        ),
        with(json!({ "enum": [1, 2.5, "a", null, [1, { "b": 2 }], { "c": [true] }, 18446744073709551615_u64, -3] })),
        with(json!({ "const": { "a": [1, -2, 0.5], "b": { "c": null } } })),
        with(json!({ "type": ["integer", "null"], "minimum": -3, "maximum": 9007199254740993_u64, "multipleOf": 3 })),
        with(json!({ "type": "number", "minimum": -9.5, "exclusiveMaximum": 1e300, "multipleOf": 0.1 })),
        with(json!({ "type": ["integer", "number"], "exclusiveMinimum": -1, "maximum": 18446744073709551615_u64 })),
        with(
            json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "minItems": 1, "maxItems": 4, "items": { "type": "boolean" } }),
        ),
        with(json!({ "type": "string", "minLength": 2, "maxLength": 3, "not": { "const": "ab" } })),
        with(json!({ "type": "string", "format": "ipv4", "not": { "enum": ["0.0.0.0"] } })),
        with(
            json!({ "anyOf": [{ "type": "string", "format": "ipv6" }, { "type": "string", "format": "date" }, { "type": "number", "minimum": 3 }] }),
        ),
        with(json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }, { "type": "number", "minimum": 4 }] })),
        with(json!({ "allOf": [{ "type": "integer", "minimum": 3 }, { "type": "integer", "maximum": 30 }] })),
        with(
            json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a", "b"], "minProperties": 1, "maxProperties": 2, "additionalProperties": { "type": "string" } }),
        ),
        with(
            json!({ "type": "object", "patternProperties": { "^\\d+$": { "type": "integer" } }, "properties": { "7": { "type": "number", "maximum": 3 } }, "additionalProperties": { "type": "string" } }),
        ),
        with(
            json!({ "type": "object", "propertyNames": { "type": "string", "maxLength": 1, "enum": ["a", "b", "é"] }, "additionalProperties": { "type": "integer" } }),
        ),
        with(
            json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "if": { "required": ["a"] }, "then": { "properties": { "b": { "type": "string" } }, "required": ["b"] }, "else": { "properties": { "c": { "type": "null" } } } }),
        ),
        with(
            json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "anyOf": [{ "properties": { "b": { "type": "integer" } } }, { "properties": { "c": { "type": "string" } }, "required": ["c"] }], "unevaluatedProperties": { "type": "boolean" } }),
        ),
        with(json!({ "type": "object", "properties": { "never": false, "a": { "type": "integer" } } })),
    ]
}

#[test]
fn both_judge_every_keyword_alike() {
    let mut counts = Counts::default();
    for document in documents() {
        let schemas = normalised(document.clone()).unwrap_or_else(|fault| panic!("{document}: {fault}"));
        let oracle = Oracle::of(&schemas).unwrap_or_else(|fault| panic!("{document}: {fault}"));
        assert!(!oracle.is_needed(), "{document} is checked by the core itself");
        let mut choices = Choices::new(counts.judged as u64 + 9);
        for at in 0..1_500 {
            let mut sample = sample(schemas.arguments(), &mut choices);
            if at % 3 == 0 {
                let junk = sampler::junk(&mut choices);
                sample = json!({ "value": if at % 2 == 0 { json!({ sampler::text(&mut choices): junk, "7": 3, "a": 1 }) } else { junk } });
            }
            counts.count(oracle.hold_for_arguments(respelt(&sample, &mut choices).as_bytes()));
        }
    }
    println!("{counts:?}");
    assert!(counts.judged > 20_000 && counts.accepted * 4 > counts.judged, "{counts:?}");
}

/// Texts that are nearly of a form.
#[test]
fn both_know_the_same_forms() {
    let pieces = [
        "2026",
        "2024",
        "1900",
        "2000",
        "0000",
        "-",
        "02",
        "28",
        "29",
        "30",
        "31",
        "12",
        "13",
        "00",
        "T",
        "t",
        " ",
        ":",
        "23",
        "59",
        "60",
        "24",
        "Z",
        "z",
        "+",
        "01:30",
        ".",
        "5",
        "P",
        "1Y",
        "2M",
        "3D",
        "4W",
        "PT",
        "5H",
        "6M",
        "7S",
        "W",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "67E55044",
        "é",
        "1.2.3.4",
        "::1",
        "fe80",
        ":",
        "0",
        "9007199254740993",
        "99999999999999999999",
        "10",
    ];
    let formats = ["date", "date-time", "time", "duration", "uuid", "ipv4", "ipv6"];
    let mut oracles: Vec<Oracle> = formats
        .iter()
        .map(|format| json!({ "type": "object", "properties": { "value": { "type": "string", "format": format } } }))
        .map(|document| Oracle::of(&normalised(document).expect("a schema")).expect("it compiles"))
        .collect();
    for key in [r"^\d+$", r"^-?\d+$"] {
        let values = json!({ "type": "object", "patternProperties": { key: { "type": "null" } } });
        let document = json!({ "type": "object", "properties": { "value": values } });
        oracles.push(Oracle::of(&normalised(document).expect("a schema")).expect("it compiles"));
    }
    let whole = [
        "2024-02-29",
        "2100-02-29",
        "2000-02-29",
        "2026-13-01",
        "2026-00-01",
        "2026-04-31",
        "2026-1-01",
        "2026-02-28T23:59:60Z",
        "2026-02-28T22:59:60-01:00",
        "2026-02-28t00:59:60.5+01:00",
        "23:59:60Z",
        "00:00:60+00:01",
        "12:00:60Z",
        "12:00:00",
        "12:00:00.Z",
        "12:00:00.123456789z",
        "12:00:00+24:00",
        "12:00:00+00:60",
        "P1W",
        "P1W1D",
        "P1D1W",
        "P",
        "PT",
        "P1Y2M3DT4H5M6S",
        "P1Y3D",
        "P2M3D",
        "PT4H6S",
        "PT5M6S",
        "P1YT",
        "P1.5D",
        "p1d",
        "P1Y1Y",
        "P1D1M",
        "P1WT1H",
        "PTT1H",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "67e5504410b1426f9247bb680e5fe0c8",
        "67E55044-10B1-426F-9247-BB680E5FE0C8",
        "67e55044-10b1-426f-9247-bb680e5fe0cg",
        "0",
        "-0",
        "01",
        "-1",
        "18446744073709551616",
        "100000000000000000000",
        "-999999999999999999",
        "-9999999999999999999",
        "1\n",
        "",
    ];
    let mut choices = Choices::new(77);
    let mut accepted = vec![0; oracles.len()];
    for at in 0..12_000 {
        let text = match whole.get(at) {
            Some(whole) => (*whole).to_owned(),
            None => (0..1 + choices.below(9)).map(|_| *choices.of(&pieces).unwrap_or(&"")).collect(),
        };
        for (at, oracle) in oracles.iter().enumerate() {
            let value =
                if at < formats.len() { json!({ "value": text }) } else { json!({ "value": { (&*text): null } }) };
            accepted[at] += usize::from(oracle.hold_for_arguments(value.to_string().as_bytes()) == Some(true));
        }
    }
    assert!(accepted.iter().all(|accepted| *accepted > 1), "{accepted:?}");
}

/// What the check does not know is left to the general validator, and not passed over.
#[test]
fn other_keywords_are_left_to_the_general_validator() {
    for (schema, good, bad) in [
        (json!({ "type": "string", "pattern": "^a+$" }), json!("aa"), json!("b")),
        (json!({ "type": "string", "format": "email" }), json!("name@example.org"), json!("nobody")),
        (json!({ "type": "string", "format": "uri" }), json!("https://example.org"), json!("a b")),
        (
            json!({ "type": "array", "items": { "type": "integer" }, "contains": { "const": 3 } }),
            json!([3]),
            json!([2]),
        ),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "integer" }], "unevaluatedItems": false }),
            json!([2]),
            json!([2, 3]),
        ),
    ] {
        let document = json!({ "type": "object", "properties": { "value": schema } });
        let oracle = Oracle::of(&normalised(document).expect("a schema")).expect("it compiles");
        assert!(oracle.is_needed(), "{schema}");
        let verdict = |value: &Value| oracle.hold_for_arguments(json!({ "value": value }).to_string().as_bytes());
        assert_eq!((verdict(&good), verdict(&bad)), (Some(true), Some(false)), "{schema}");
    }
}
