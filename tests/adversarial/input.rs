//! Bytes that anybody may have written.

use std::time::{Duration, Instant};

use capability_core::executor::Effect;
use capability_core::{Code, Stage};

use crate::fixtures::Bench;

/// Every answer comes in time, at validate, and nothing runs.
#[tokio::test]
async fn bad_arguments_are_refused_at_validate_in_bounded_time() {
    let deep = |open: &str, close: &str| open.repeat(200) + &close.repeat(200);
    let cases: Vec<(&str, Vec<u8>, Code)> = vec![
        ("nothing", Vec::new(), Code::ArgumentsMalformed),
        ("blanks", b" \n\t".to_vec(), Code::ArgumentsMalformed),
        ("half an object", br#"{"to":"a""#.to_vec(), Code::ArgumentsMalformed),
        ("two objects", br#"{"to":"a","count":1}{}"#.to_vec(), Code::ArgumentsMalformed),
        ("a trailing comma", br#"{"to":"a","count":1,}"#.to_vec(), Code::ArgumentsMalformed),
        ("a comment", br#"{"to":"a",/**/"count":1}"#.to_vec(), Code::ArgumentsMalformed),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec(), Code::ArgumentsMalformed),
        ("no UTF-8", b"{\"to\":\"\xff\",\"count\":1}".to_vec(), Code::ArgumentsMalformed),
        ("NaN", br#"{"to":"a","count":1,"factor":NaN}"#.to_vec(), Code::ArgumentsMalformed),
        ("Infinity", br#"{"to":"a","count":1,"factor":Infinity}"#.to_vec(), Code::ArgumentsMalformed),
        ("1e400", br#"{"to":"a","count":1,"factor":1e400}"#.to_vec(), Code::ArgumentsMalformed),
        ("a lone high surrogate", br#"{"to":"\ud83d","count":1}"#.to_vec(), Code::ArgumentsMalformed),
        ("a lone low surrogate", br#"{"to":"\ude00","count":1}"#.to_vec(), Code::ArgumentsMalformed),
        ("a raw control character", b"{\"to\":\"a\nb\",\"count\":1}".to_vec(), Code::ArgumentsMalformed),
        ("a raw NUL", b"{\"to\":\"a\0b\",\"count\":1}".to_vec(), Code::ArgumentsMalformed),
        ("a NUL outside", b"{\"to\":\"a\",\"count\":1}\0".to_vec(), Code::ArgumentsMalformed),
        ("an escaped NUL", br#"{"to":"a\u0000b","count":1}"#.to_vec(), Code::ControlCharacter),
        ("an escaped NUL in a key", br#"{"to":"a","count":1,"labels":{"\u0000":1}}"#.to_vec(), Code::ControlCharacter),
        ("a key twice", br#"{"to":"a","count":1,"to":"b"}"#.to_vec(), Code::DuplicateKey),
        ("a key twice, once escaped", br#"{"to":"a","count":1,"t\u006f":"b"}"#.to_vec(), Code::DuplicateKey),
        ("a key twice, below", br#"{"to":"a","count":1,"labels":{"k":1,"k":1}}"#.to_vec(), Code::DuplicateKey),
        ("200 lists", deep("[", "]").into_bytes(), Code::TooDeep),
        ("200 objects", (deep("{\"a\":", "}").replacen(":}", ":1}", 1)).into_bytes(), Code::TooDeep),
        ("a list", b"[1]".to_vec(), Code::NotAnObject),
        ("null", b"null".to_vec(), Code::NotAnObject),
        ("a number", b"1".to_vec(), Code::NotAnObject),
        ("a text", br#""{}""#.to_vec(), Code::NotAnObject),
        ("10 MiB of blanks", vec![b' '; 10 << 20], Code::ArgumentsTooLarge),
        (
            "10 MiB of text",
            format!(r#"{{"to":"{}","count":1}}"#, "a".repeat(10 << 20)).into_bytes(),
            Code::ArgumentsTooLarge,
        ),
        ("a number in quotes", br#"{"to":"a","count":"1"}"#.to_vec(), Code::SchemaViolation),
        ("a number for a text", br#"{"to":1,"count":1}"#.to_vec(), Code::SchemaViolation),
        ("below zero", br#"{"to":"a","count":-1}"#.to_vec(), Code::SchemaViolation),
        ("above its type", br#"{"to":"a","count":18446744073709551616}"#.to_vec(), Code::SchemaViolation),
        ("a fraction", br#"{"to":"a","count":1.5}"#.to_vec(), Code::SchemaViolation),
        ("null for a number", br#"{"to":"a","count":null}"#.to_vec(), Code::SchemaViolation),
        ("a missing one", br#"{"to":"a"}"#.to_vec(), Code::SchemaViolation),
        ("an unknown one", br#"{"to":"a","count":1,"x":1}"#.to_vec(), Code::SchemaViolation),
        (
            "an unknown one below",
            br#"{"to":"a","count":1,"lines":[{"item":"i","delta":1,"x":1}]}"#.to_vec(),
            Code::SchemaViolation,
        ),
        ("a label above its type", br#"{"to":"a","count":1,"labels":{"k":256}}"#.to_vec(), Code::SchemaViolation),
    ];
    let bench = Bench::new();
    for (what, raw, code) in cases {
        let begun = Instant::now();
        let outcome = bench.invoke_raw("lab.order", raw).await;
        assert!(begun.elapsed() < Duration::from_secs(2), "{what} took {:?}", begun.elapsed());
        assert_eq!((outcome.code(), outcome.stage()), (Some(code), Stage::Validate), "{what}: {:?}", outcome.message());
        assert_eq!(outcome.effect(), Effect::NotStarted, "{what}");
        let (message, help) = (outcome.message().expect("why"), outcome.help().expect("what instead"));
        assert!(!message.is_empty() && message.len() < 4096 && help.len() < 4096, "{what}: {message}");
    }
    assert_eq!(bench.world().ran(), 0);
}

#[tokio::test]
async fn a_refusal_names_the_place_and_the_rule() {
    let bench = Bench::new();
    for (raw, place, rule) in [
        (r#"{"to":"a","count":"5"}"#, "`/count`", "must be an integer, not a text"),
        (r#"{"to":"a","count":1,"lines":[{"item":"i","delta":1},{"item":2,"delta":1}]}"#, "`/lines/1/item`", "must be"),
        (r#"{"to":"a"}"#, "the arguments", "`count` is missing"),
    ] {
        let outcome = bench.invoke_raw("lab.order", raw).await;
        let message = outcome.message().expect("a sentence").into_owned();
        assert!(message.starts_with(&format!("{place}: {rule}")), "{raw}: {message}");
    }
    let quoted = bench.invoke_raw("lab.order", r#"{"to":"a","count":"5"}"#).await;
    assert_eq!(quoted.help().as_deref(), Some("send 5 without quotes"));
}

/// Just inside every limit is taken.
#[tokio::test]
async fn what_is_just_inside_a_limit_is_taken() {
    let bench = Bench::new();
    let long = "é".repeat(200);
    for raw in [
        format!(r#"{{"to":"a","count":18446744073709551615,"lines":[{{"item":"{long}","delta":-2147483648}}]}}"#),
        r#"{"to":"","count":0,"factor":1.7976931348623157e308,"labels":{"":255}}"#.to_owned(),
        format!(r#"{{"to":"{}","count":1}}"#, "a".repeat(1_000_000)),
        r#"{"to":"\ud83d\ude00","count":-0}"#.to_owned(),
    ] {
        let outcome = bench.invoke_raw("lab.order", raw.as_str()).await;
        let id = outcome.approval().unwrap_or_else(|| panic!("{}: {outcome:?}", &raw[..raw.len().min(200)]));
        bench.approve(id).await;
        let outcome = bench.resume(id).await;
        assert!(outcome.result().is_some(), "{}: {outcome:?}", &raw[..raw.len().min(200)]);
    }
}
