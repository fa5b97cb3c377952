//! Every kind of bad argument, and what its sender is told.

use std::collections::BTreeMap;

use capability_core::__validation::{Validators, schemas_of};
use capability_core::{ArgumentCode, ArgumentFault};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is used")]
struct Search {
    /// What to look for.
    #[schemars(length(min = 1, max = 3))]
    query: String,
    #[schemars(range(min = 1, max = 5))]
    limit: Option<u32>,
    exact: Option<bool>,
    ratio: Option<f64>,
    range: Option<TimeRange>,
    nested: Option<Nested>,
    tags: Option<Vec<String>>,
    labels: Option<BTreeMap<String, u8>>,
    shape: Option<Shape>,
    #[schemars(extend("format" = "uuid"))]
    id: Option<String>,
    large: Option<u64>,
    small: Option<i64>,
    byte: Option<u8>,
}

#[derive(JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TimeRange {
    /// The last day.
    Day,
    /// The last week.
    Week,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is used")]
struct Nested {
    depth: u8,
}

#[derive(JsonSchema, Deserialize)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only its schema is used")]
enum Shape {
    Circle { radius: u32 },
    Square { side: u32 },
}

fn validators() -> Validators {
    Validators::compile(&schemas_of::<Search, ()>().expect("a schema")).expect("it compiles")
}

fn refusal(raw: impl AsRef<[u8]>) -> ArgumentFault {
    validators().arguments(raw.as_ref()).expect_err("it is refused")
}

#[test]
fn what_is_no_json_is_malformed() {
    for (raw, help) in [
        ("", "send an object with the arguments, `{}` when there are none"),
        ("  \n", "send an object with the arguments, `{}` when there are none"),
        (r#"{"query":"a""#, "send the whole object: the text ends inside it"),
        (r#"{"query":"a"} {}"#, "send one JSON object and nothing after it"),
        (r#"{"query":"a",}"#, "no trailing commas"),
        (r#"{query:"a"}"#, "double quotes around keys"),
        (r#"{"query":"a","ratio":NaN}"#, "no `NaN`"),
        (r#"{"query":"a","ratio":Infinity}"#, "send JSON"),
        (r#"{"query":"a","ratio":1e400}"#, "below 1.8e308"),
        (r#"{"query":"a","ratio":-1e400}"#, "below 1.8e308"),
        (r#"{"query":"a","ratio":01}"#, "send JSON"),
        (r#"{"query":"\ud800"}"#, "two `\\u` escapes that belong together"),
        (r#"{"query":"\udc00x"}"#, "two `\\u` escapes that belong together"),
        (r#"{"\ud800":1}"#, "two `\\u` escapes that belong together"),
        ("{\"query\":\"a\nb\"}", "escape line breaks"),
        (r#"{"query":"a","limit":1.0000000000000001}"#, "send the integer itself"),
        (r#"{"query":"a","limit":9007199254740993.0}"#, "send the integer itself"),
    ] {
        let fault = refusal(raw);
        assert_eq!(fault.code, ArgumentCode::Malformed, "{raw}: {fault}");
        assert!(fault.help.contains(help), "{raw}: {fault}");
        assert_eq!((fault.keyword, &fault.schema_path), (None, &None));
    }
    let fault = refusal(b"{\"query\":\"\xff\"}");
    assert_eq!((fault.code, fault.help.as_str()), (ArgumentCode::Malformed, "send UTF-8"));
}

#[test]
fn a_key_stands_once_however_it_is_escaped() {
    for raw in [
        r#"{"query":"a","query":"b"}"#,
        r#"{"query":"a","quer\u0079":"a"}"#,
        r#"{"query":"a","nested":{"depth":1,"depth":1}}"#,
        r#"{"query":"a","labels":{"a":1,"\u0061":1}}"#,
    ] {
        let fault = refusal(raw);
        assert_eq!(fault.code, ArgumentCode::DuplicateKey, "{raw}: {fault}");
    }
    let fault = refusal(r#"{"query":"a","labels":{"a":1,"\u0061":1}}"#);
    assert_eq!(fault.message, "`/labels`: the key `a` stands there twice");
}

#[test]
fn depth_size_and_nul_are_bounded() {
    for levels in [65, 200, 100_000] {
        let raw = format!("{{\"query\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(refusal(raw).code, ArgumentCode::TooDeep);
        let raw = format!("{}1{}", "{\"kids\":".repeat(levels), "}".repeat(levels));
        assert_eq!(refusal(raw).code, ArgumentCode::TooDeep);
    }
    let raw = format!("{{\"query\":\"{}\"}}", "x".repeat(10 * 1024 * 1024));
    assert_eq!(refusal(raw).code, ArgumentCode::TooLarge);
    let many = format!("{{\"query\":[{}{{\"a\":0}}]}}", "{\"a\":0},".repeat(120_000));
    assert!(many.len() <= capability_core::MAX_ARGUMENT_BYTES);
    assert_eq!(refusal(many).code, ArgumentCode::TooLarge);
    for raw in [r#"{"query":"a\u0000"}"#, r#"{"query":"a","labels":{"\u0000":1}}"#] {
        assert_eq!(refusal(raw).code, ArgumentCode::ControlCharacter, "{raw}");
    }
    assert_eq!(refusal(b"{\"query\":\"\0\"}").code, ArgumentCode::Malformed);
}

#[test]
fn arguments_are_an_object() {
    for (raw, help) in [
        ("[1]", "send an object with each argument under its name"),
        ("null", "send `{}` when there are no arguments"),
        ("\"x\"", "send an object with each argument under its name"),
        (r#""{\"query\":\"a\"}""#, "send the object itself, not a text that holds it"),
        ("1", "send an object with each argument under its name"),
        ("true", "send an object with each argument under its name"),
    ] {
        let fault = refusal(raw);
        assert_eq!((fault.code, fault.help.as_str()), (ArgumentCode::NotAnObject, help), "{raw}");
    }
}

#[test]
fn a_refusal_names_the_place_the_rule_and_what_would_be_right() {
    let table = [
        (
            json!({"query": "a", "limit": "5"}),
            "`/limit`: must be an integer or null, not a text",
            "send 5 without quotes",
            "type",
            "/properties/limit/type",
        ),
        (
            json!({"query": "a", "exact": "true"}),
            "`/exact`: must be true or false or null, not a text",
            "send true without quotes",
            "type",
            "/properties/exact/type",
        ),
        (
            json!({"query": "a", "tags": "[\"x\"]"}),
            "`/tags`: must be a list or null, not a text",
            "send the list itself, not a text that holds it",
            "type",
            "/properties/tags/type",
        ),
        (
            json!({"query": 7}),
            "`/query`: must be a text, not an integer",
            "send \"7\" in quotes",
            "type",
            "/properties/query/type",
        ),
        (
            json!({"query": "a", "limit": 99}),
            "`/limit`: 99 is outside the range",
            "send a number from 1 to 5",
            "maximum",
            "/properties/limit/maximum",
        ),
        (
            json!({"query": ""}),
            "`/query`: the text has 0 characters",
            "send a number of characters from 1 to 3",
            "minLength",
            "/properties/query/minLength",
        ),
        (
            json!({"query": "👨‍👩‍👧"}),
            "`/query`: the text has 5 characters",
            "send a number of characters from 1 to 3",
            "maxLength",
            "/properties/query/maxLength",
        ),
        (json!({"limit": 1}), "the arguments: `query` is missing", "add `query`: a text", "required", "/required"),
        (
            json!({"query": "a", "limt": 1}),
            "the arguments: `limt` is not accepted",
            "perhaps `limit` for `limt`; accepted are `byte`, `exact`, `id`, `labels`, `large`, `limit`, `nested`, `query`, `range`, `ratio`, `shape`, `small` or `tags`",
            "additionalProperties",
            "/additionalProperties",
        ),
        (
            json!({"query": "a", "nested": {"depth": 256}}),
            "`/nested/depth`: 256 is outside the range",
            "send a number from 0 to 255",
            "maximum",
            "/properties/nested/properties/depth/maximum",
        ),
        (
            json!({"query": "a", "nested": [1]}),
            "`/nested`: must be an object or null, not a list",
            "send an object or null",
            "type",
            "/properties/nested/type",
        ),
        (
            json!({"query": "a", "range": "dya"}),
            "`/range`: \"dya\" is not one of the accepted values",
            "perhaps \"day\"; send \"day\" or \"week\"",
            "anyOf",
            "/properties/range/anyOf",
        ),
        (
            json!({"query": "a", "range": {"day": null}}),
            "`/range`: the value is none of the alternatives",
            "send \"day\" or \"week\" or null",
            "anyOf",
            "/properties/range/anyOf",
        ),
        (
            json!({"query": "a", "shape": {"kind": "Circel", "radius": 1}}),
            "`/shape`: `kind`: \"Circel\" is not one of the accepted values",
            "perhaps \"Circle\"; send \"Circle\" or \"Square\"",
            "anyOf",
            "/properties/shape/anyOf",
        ),
        (
            json!({"query": "a", "shape": {"kind": "Circle"}}),
            "`/shape`: `radius` is missing",
            "add `radius`: an integer",
            "anyOf",
            "/properties/shape/anyOf",
        ),
        (
            json!({"query": "a", "id": "nobody"}),
            "`/id`: the text is no uuid",
            "send it as in \"67e55044-10b1-426f-9247-bb680e5fe0c8\"",
            "format",
            "/properties/id/format",
        ),
        (
            json!({"query": "a", "limit": 1.5}),
            "`/limit`: must be an integer or null, not a number",
            "send a number without a fraction",
            "type",
            "/properties/limit/type",
        ),
        (
            json!({"query": "a", "labels": {"any name": 256}}),
            "`/labels/any name`: 256 is outside the range",
            "send a number from 0 to 255",
            "maximum",
            "/properties/labels/additionalProperties/maximum",
        ),
    ];
    for (sent, message, help, keyword, path) in table {
        let fault = refusal(sent.to_string());
        assert_eq!(fault.code, ArgumentCode::Schema);
        assert_eq!((fault.message.as_str(), fault.help.as_str()), (message, help), "{sent}");
        assert_eq!((fault.keyword, fault.schema_path.as_deref()), (Some(keyword), Some(path)), "{sent}");
    }
}

#[test]
fn integers_are_exact_to_the_last_one() {
    let validators = validators();
    let text = |raw: &str| {
        String::from_utf8(
            validators.arguments(raw.as_bytes()).unwrap_or_else(|fault| panic!("{raw}: {fault}")).as_bytes().to_vec(),
        )
        .expect("UTF-8")
    };
    for (sent, kept) in [
        ("18446744073709551615", "18446744073709551615"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740993"),
        ("1.0", "1"),
        ("30.0e0", "30"),
        ("1e3", "1000"),
        ("0.5e1", "5"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("9007199254740992.0", "9007199254740992"),
    ] {
        assert_eq!(text(&format!(r#"{{"large":{sent},"query":"a"}}"#)), format!(r#"{{"large":{kept},"query":"a"}}"#));
    }
    assert_eq!(text(r#"{"query":"a","small":-9223372036854775808}"#), r#"{"query":"a","small":-9223372036854775808}"#);
    for refused in [
        r#"{"query":"a","large":18446744073709551616}"#,
        r#"{"query":"a","large":-1}"#,
        r#"{"query":"a","large":1e17}"#,
        r#"{"query":"a","small":9223372036854775808}"#,
        r#"{"query":"a","small":-9223372036854775809}"#,
        r#"{"query":"a","byte":256}"#,
        r#"{"query":"a","byte":1.5}"#,
    ] {
        assert_eq!(refusal(refused).code, ArgumentCode::Schema, "{refused}");
    }
    let fault = refusal(r#"{"query":"a","large":1e17}"#);
    assert_eq!((fault.keyword, fault.schema_path.as_deref()), (Some("type"), Some("/properties/large/type")));
    // A number that is no integer may be as large as a double.
    assert_eq!(text(r#"{"query":"a","ratio":1e300}"#), r#"{"query":"a","ratio":1e+300}"#);
}

#[test]
fn what_may_be_recorded_holds_nothing_that_was_sent() {
    for sent in [
        json!({"query": "a", "labels": {"s3cr3t": "s3cr3t"}}),
        json!({"query": "s3cr3t"}),
        json!({"query": "a", "s3cr3t": 1}),
        json!({"query": "a", "shape": {"kind": "s3cr3t", "s3cr3t": "s3cr3t"}}),
        json!({"query": "a", "range": "s3cr3t"}),
    ] {
        let fault = refusal(sent.to_string());
        let recorded = format!("{:?} {:?} {:?}", fault.code, fault.keyword, fault.schema_path);
        assert!(!recorded.contains("s3cr3t"), "{recorded}");
    }
}

#[test]
fn an_option_may_be_absent_or_null() {
    let validators = validators();
    for raw in [r#"{"query":"a"}"#, r#"{"query":"a","range":null,"limit":null,"shape":null,"nested":null}"#] {
        assert!(validators.arguments(raw.as_bytes()).is_ok(), "{raw}");
    }
}

#[test]
fn several_mistakes_are_told_at_once() {
    let fault = refusal(r#"{"limit":"5","exact":1}"#);
    assert_eq!(fault.message.lines().count(), 3, "{fault}");
}
