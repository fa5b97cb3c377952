//! What an exported schema says, row by row.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use capability_core::__validation::{Validators, normalised, schemas_of};
use capability_core::contract::Schemas;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::zoo::{self, Holds};

fn schemas<A: JsonSchema>() -> Schemas {
    schemas_of::<A, ()>().unwrap_or_else(|fault| panic!("{fault}"))
}

fn arguments<A: JsonSchema>() -> Value {
    schemas::<A>().arguments().clone()
}

/// The schema of a parameter `value: T`.
fn property<T: JsonSchema>() -> Value {
    arguments::<Holds<T>>().pointer("/properties/value").cloned().expect("the property")
}

fn fault(document: Value) -> String {
    normalised(document).expect_err("a fault").to_string()
}

fn keywords(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            found.push(name.clone());
            keywords(value, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| keywords(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_integer_has_its_exact_bounds_and_no_format() {
    let schema = arguments::<zoo::Sized_>();
    let bounds = |name: &str| {
        let property = schema.pointer(&format!("/properties/{name}")).expect("the property");
        assert_eq!(property.as_object().map(|property| property.len()), Some(3), "{property}");
        (property["minimum"].to_string(), property["maximum"].to_string())
    };
    let of = |low: &dyn ToString, high: &dyn ToString| (low.to_string(), high.to_string());
    assert_eq!(bounds("a"), of(&u8::MIN, &u8::MAX));
    assert_eq!(bounds("b"), of(&u16::MIN, &u16::MAX));
    assert_eq!(bounds("c"), of(&u32::MIN, &u32::MAX));
    assert_eq!(bounds("d"), of(&u64::MIN, &u64::MAX));
    assert_eq!(bounds("e"), of(&usize::MIN, &usize::MAX));
    assert_eq!(bounds("f"), of(&i8::MIN, &i8::MAX));
    assert_eq!(bounds("g"), of(&i16::MIN, &i16::MAX));
    assert_eq!(bounds("h"), of(&i32::MIN, &i32::MAX));
    assert_eq!(bounds("i"), of(&i64::MIN, &i64::MAX));
    assert_eq!(bounds("j"), of(&isize::MIN, &isize::MAX));
    assert_eq!(bounds("k"), of(&0, &u64::MAX));
    assert_eq!(bounds("l"), of(&i64::MIN, &u64::MAX));
}

#[test]
fn written_bounds_are_kept_where_they_are_narrower() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Written {
        #[schemars(range(min = 1, max = 5))]
        narrow: u32,
        #[schemars(range(min = -5, max = 500))]
        wide: u8,
        #[schemars(range(min = 0.5))]
        fraction: i8,
    }
    let schema = arguments::<Written>();
    let bounds =
        |name: &str| (schema["properties"][name]["minimum"].clone(), schema["properties"][name]["maximum"].clone());
    assert_eq!(bounds("narrow"), (json!(1), json!(5)));
    assert_eq!(bounds("wide"), (json!(0), json!(255)));
    assert_eq!(bounds("fraction"), (json!(0.5), json!(127)));
}

#[test]
fn no_arguments_are_one_exact_schema() {
    assert_eq!(
        arguments::<zoo::Empty>().to_string(),
        r#"{"additionalProperties":false,"properties":{},"type":"object"}"#
    );
    let validators = Validators::compile(&schemas::<zoo::Empty>()).expect("it compiles");
    assert_eq!(validators.arguments(b"{}").expect("accepted").as_bytes(), b"{}");
    assert!(validators.arguments(br#"{"x":1}"#).is_err());
}

#[test]
fn noise_is_gone_everywhere() {
    #[derive(JsonSchema)]
    #[schemars(title = "Root title")]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Titled {
        /// Kept.
        #[schemars(title = "Nested title")]
        title: Option<u64>,
        nullable: bool,
        inner: Vec<zoo::Optional>,
    }
    let schema = arguments::<Titled>();
    let mut found = Vec::new();
    keywords(&schema, &mut found);
    assert!(
        !found.iter().any(|keyword| matches!(keyword.as_str(), "$schema" | "format" | "$defs" | "$ref")),
        "{schema}"
    );
    // A property may be called as a keyword is.
    assert_eq!(found.iter().filter(|keyword| *keyword == "title").count(), 1);
    assert_eq!(found.iter().filter(|keyword| *keyword == "nullable").count(), 1);
    assert_eq!(schema["properties"]["title"]["description"], "Kept.");
}

#[test]
fn an_option_is_optional_and_takes_null() {
    let schema = arguments::<zoo::Optional>();
    assert_eq!(schema.get("required"), None);
    let validators = Validators::compile(&schemas::<zoo::Optional>()).expect("it compiles");
    for name in ["a", "b", "c", "d", "e", "f"] {
        assert!(validators.arguments(format!(r#"{{"{name}":null}}"#).as_bytes()).is_ok(), "{name}");
    }
    assert!(validators.arguments(b"{}").is_ok());
}

#[test]
fn a_documented_choice_has_a_type_and_keeps_its_words() {
    assert_eq!(
        property::<zoo::Documented>(),
        json!({
            "type": "string",
            "oneOf": [
                { "type": "string", "enum": ["Third"] },
                { "type": "string", "const": "First", "description": "The first." },
                { "type": "string", "const": "Second", "description": "The second." }
            ]
        })
    );
}

#[test]
fn objects_are_closed_once_and_maps_stay_maps() {
    assert_eq!(
        property::<HashMap<String, u8>>()["additionalProperties"],
        json!({ "type": "integer", "minimum": 0, "maximum": 255 })
    );
    let flat = property::<zoo::FlatTwo>();
    assert_eq!(flat["unevaluatedProperties"], false);
    assert_eq!(flat["additionalProperties"], Value::Null);
    let mut found = Vec::new();
    keywords(&flat, &mut found);
    assert_eq!(found.iter().filter(|keyword| keyword.ends_with("edProperties")).count(), 1, "{flat}");
    let internal = property::<zoo::Internal>();
    assert!(
        internal["oneOf"].as_array().expect("branches").iter().all(|branch| branch["additionalProperties"] == false)
    );
    let nested = property::<zoo::Nested>();
    assert_eq!(nested.pointer("/properties/b/items/properties/leaf/additionalProperties"), Some(&Value::Bool(false)));
}

#[test]
fn flattened_parts_are_closed_together() {
    let validators = Validators::compile(&schemas::<zoo::FlatTwo>()).expect("it compiles");
    assert!(validators.arguments(br#"{"x":1,"One":2,"tag":"P","p":3}"#).is_ok());
    for refused in [
        r#"{"x":1,"One":2,"tag":"P","p":3,"z":1}"#,
        r#"{"x":1,"One":2,"Two":{"x":true},"tag":"Q"}"#,
        r#"{"x":1,"One":2,"tag":"Q","p":3}"#,
        r#"{"x":1,"tag":"Q"}"#,
    ] {
        assert!(validators.arguments(refused.as_bytes()).is_err(), "{refused}");
    }
}

#[test]
fn a_name_that_a_flattened_type_repeats_is_a_fault() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Clash {
        a: u8,
        #[serde(flatten)]
        choice: zoo::Internal,
    }
    let fault = schemas_of::<Clash, ()>().expect_err("a fault").to_string();
    assert!(fault.contains("`a`") && fault.contains("rename one of the two"), "{fault}");
}

mod first {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub struct Same {
        next: Option<Box<Same>>,
    }
}

mod second {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub struct Same {
        more: Vec<Same>,
    }
}

#[test]
fn definitions_are_named_by_what_they_are_and_not_by_when_they_were_met() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct OneWay {
        x: first::Same,
        y: second::Same,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct OtherWay {
        y: second::Same,
        x: first::Same,
    }
    let (one, other) = (schemas::<OneWay>(), schemas::<OtherWay>());
    assert_eq!(one.arguments(), other.arguments());
    assert_eq!(one.arguments_digest(), other.arguments_digest());
    let names: Vec<&String> = one.arguments()["$defs"].as_object().expect("definitions").keys().collect();
    assert!(names.len() == 2 && names.iter().all(|name| name.starts_with("Same_")), "{names:?}");
    let alone: Vec<String> =
        arguments::<Holds<zoo::List>>()["$defs"].as_object().expect("definitions").keys().cloned().collect();
    assert_eq!(alone, ["List"]);
}

#[test]
fn both_contracts_are_described_as_they_are() {
    #[derive(JsonSchema, Serialize, Deserialize)]
    struct Sides {
        always: Option<i32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        some: Option<i32>,
    }
    let schemas = schemas_of::<Sides, Sides>().expect("schemas");
    assert_eq!(schemas.arguments().get("required"), None);
    assert_eq!(schemas.result()["required"], json!(["always"]));
    let validators = Validators::compile(&schemas).expect("it compiles");
    assert_eq!(validators.result(br#"{"always":null}"#), Ok(()));
    assert_eq!(validators.result(br#"{"always":1,"some":2}"#), Ok(()));
    let fault = validators.result(br#"{"some":2}"#).expect_err("refused");
    assert_eq!((fault.keyword, fault.schema_path.as_deref()), (Some("required"), Some("/required")));
}

#[test]
fn a_result_that_adds_a_field_breaks_its_contract() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Written {
        a: u8,
    }
    impl Serialize for Written {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([("a", 1), ("s3cr3t", 2)])
        }
    }
    let schemas = schemas_of::<zoo::Empty, Written>().expect("schemas");
    let validators = Validators::compile(&schemas).expect("it compiles");
    let result = serde_json::to_vec(&Written { a: 1 }).expect("it serialises");
    let fault = validators.result(&result).expect_err("refused");
    assert_eq!(
        (fault.keyword, fault.schema_path.as_deref()),
        (Some("additionalProperties"), Some("/additionalProperties"))
    );
    assert!(!format!("{fault} {fault:?}").contains("s3cr3t"));
    assert_eq!(validators.result(b"not json").expect_err("refused").keyword, None);
}

#[test]
fn a_place_that_accepts_anything_is_a_fault_that_names_it() {
    for (document, place) in [
        (json!({"type": "object", "properties": {"a": true}}), "`/properties/a`"),
        (json!({"type": "object", "properties": {"a": {}}}), "`/properties/a`"),
        (json!({"type": "object", "properties": {"a": {"description": "any"}}}), "`/properties/a`"),
        (json!({"type": "object", "properties": {"a": {"type": "array"}}}), "`/properties/a/items`"),
        (json!({"type": "object", "additionalProperties": true}), "`/additionalProperties`"),
        (json!({"type": "object", "properties": {"a": {"type": "array", "items": true}}}), "`/properties/a/items`"),
    ] {
        let fault = fault(document);
        assert!(fault.contains(place) && fault.contains("accepts anything") && fault.contains("\nhelp: "), "{fault}");
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Any {
        deep: BTreeMap<String, Vec<Value>>,
    }
    let fault = schemas_of::<Any, ()>().expect_err("a fault");
    assert_eq!(fault.pointer(), "/properties/deep/additionalProperties/items");
}

/// What a pattern without end is told: that it is one, or that there is nothing here to match it with.
const PATTERN: &str = if cfg!(feature = "jsonschema") { "in linear time" } else { "enable the feature `jsonschema`" };

#[test]
fn what_cannot_be_enforced_or_would_be_fetched_is_a_fault() {
    let with = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    for (schema, says) in [
        (json!({"$ref": "https://example.org/schema"}), "nothing is ever fetched"),
        (json!({"$ref": "other.json"}), "nothing is ever fetched"),
        (json!({"$ref": "#/properties/b"}), "nothing is ever fetched"),
        (json!({"$ref": "#/$defs/Absent"}), "leads to a definition"),
        (json!({"$id": "https://example.org/", "type": "string"}), "`$id`"),
        (json!({"type": "string", "nullable": true}), "`nullable`"),
        (json!({"type": "string", "pattern": "("}), PATTERN),
        (json!({"type": "string", "pattern": "(?=a)"}), PATTERN),
        (json!({"type": "string", "pattern": r"(a)\1"}), PATTERN),
        (json!({"type": "strin"}), "/properties/a"),
        (json!({"type": "integer", "minimum": "1"}), "/properties/a"),
        (json!({"type": "string", "minLength": -1}), "/properties/a"),
        (json!({"type": "integer", "minimum": 5, "maximum": 1}), "`minimum` is 5 and `maximum` is 1"),
        (json!({"type": "integer", "minimum": 5, "default": 1}), "`/properties/a/default`"),
        (json!([]), "a schema is an object"),
    ] {
        let fault = fault(with(schema));
        assert!(fault.contains(says), "{says}: {fault}");
    }
    assert!(fault(json!({"type": "string"})).contains("are an object"));
    assert!(fault(json!(true)).contains("accepts anything"));
    assert!(fault(json!("text")).contains("a schema is an object"));
}

/// Without a general validator, a keyword that is not checked is told, and so is what would check it.
#[test]
fn a_keyword_that_is_not_checked_names_the_feature_that_does() {
    for (schema, keyword) in [
        (json!({"type": "string", "pattern": "^a+$"}), "`pattern`"),
        (json!({"type": "string", "format": "email"}), "`format: email`"),
        (json!({"type": "array", "items": {"type": "integer"}, "contains": {"const": 1}}), "`contains`"),
        (json!({"type": "object", "patternProperties": {"^a": {"type": "null"}}}), "`patternProperties`"),
        (json!({"type": "string", "contentEncoding": "base64"}), "`contentEncoding`"),
        (json!({"type": "string", "then": {"minLength": 1}}), "`then`"),
    ] {
        let document = json!({ "type": "object", "properties": { "a": schema } });
        if cfg!(feature = "jsonschema") {
            let schemas = normalised(document).unwrap_or_else(|fault| panic!("{keyword}: {fault}"));
            assert!(Validators::compile(&schemas).is_ok(), "{keyword}");
            continue;
        }
        let fault = fault(document);
        assert!(fault.contains("the argument schema at `/properties/a`") && fault.contains(keyword), "{fault}");
        assert!(fault.contains("help: enable the feature `jsonschema` of `capability-core`"), "{fault}");
    }
}

#[test]
fn items_that_must_differ_are_told_apart_in_good_time() {
    let items = json!({ "type": "array", "uniqueItems": true, "items": { "type": "integer" } });
    let document = json!({ "type": "object", "properties": { "a": items } });
    let validators = Validators::compile(&normalised(document).expect("a schema")).expect("it compiles");
    let list = |last: u32| (0..100_000).chain([last]).map(|item| item.to_string()).collect::<Vec<_>>().join(",");
    let started = Instant::now();
    assert!(validators.arguments(format!("{{\"a\":[{}]}}", list(100_000)).as_bytes()).is_ok());
    let fault = validators.arguments(format!("{{\"a\":[{}]}}", list(50_000)).as_bytes()).expect_err("refused");
    assert_eq!(fault.keyword, Some("uniqueItems"));
    // Each with each would be five thousand million comparisons.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn recursion_in_a_schema_ends() {
    let child = json!({"type": "object", "properties": {"child": {"$ref": "#/$defs/N"}}});
    let mut document = child.clone();
    document["$defs"] = json!({ "N": child });
    assert!(normalised(document).is_ok());
    assert!(normalised(json!({"type": "object", "properties": {"me": {"$ref": "#"}}})).is_ok());
    // A type flattened into itself never ends.
    let itself = json!({"type": "object", "properties": {"a": {"type": "null"}}, "allOf": [{"$ref": "#"}]});
    assert!(fault(itself).contains("not to itself"));
    let mut deep = json!({"type": "null"});
    for _ in 0..500 {
        deep = json!({"type": "array", "items": deep});
    }
    let fault = fault(json!({"type": "object", "properties": {"a": deep}}));
    assert!(fault.contains("nests at most"), "{fault}");
}

#[test]
fn descriptions_keep_paragraphs_and_join_lines() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Described {
        /// Line one "quoted"
        /// continues, é ☃.
        ///
        /// A second paragraph:
        /// - a point
        /// - another
        a: u8,
    }
    assert_eq!(
        arguments::<Described>()["properties"]["a"]["description"],
        "Line one \"quoted\" continues, é ☃.\n\nA second paragraph:\n- a point\n- another"
    );
}

#[test]
fn what_serde_accepts_and_the_schema_does_not_is_refused() {
    let renamed = Validators::compile(&schemas::<zoo::Renamed>()).expect("it compiles");
    assert!(renamed.arguments(br#"{"firstName":"a","TYPE":"first","fresh":1}"#).is_ok());
    assert!(renamed.arguments(br#"{"firstName":"a","TYPE":"first","old":1}"#).is_err());
    let leaf = Validators::compile(&schemas::<Holds<zoo::Leaf>>()).expect("it compiles");
    assert!(leaf.arguments(br#"{"value":[1,"a"]}"#).is_err());
    let external = Validators::compile(&schemas::<Holds<zoo::External>>()).expect("it compiles");
    assert!(external.arguments(br#"{"value":{"Unit":null}}"#).is_err());
    let internal = Validators::compile(&schemas::<Holds<zoo::Internal>>()).expect("it compiles");
    assert!(internal.arguments(br#"{"value":{"kind":"Unit","x":1}}"#).is_err());
}

#[test]
fn equal_types_have_equal_digests_and_different_ones_do_not() {
    assert_eq!(schemas::<zoo::Nested>().arguments_digest(), schemas::<zoo::Nested>().arguments_digest());
    assert_ne!(schemas::<zoo::Nested>().arguments_digest(), schemas::<zoo::Leaf>().arguments_digest());
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Moved {
        y: Option<String>,
        x: u8,
    }
    assert_eq!(schemas::<Moved>().arguments_digest(), schemas::<zoo::Leaf>().arguments_digest());
}
