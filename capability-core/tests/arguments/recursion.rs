//! Types that hold themselves are checked in time that grows with what is sent, accepted or not.

use std::time::{Duration, Instant};

use capability_core::__validation::{Validators, schemas_of};
use schemars::JsonSchema;

use crate::zoo::Holds;

#[derive(JsonSchema)]
#[serde(tag = "op")]
#[expect(dead_code, reason = "only its schema is used")]
enum Tagged {
    Add { left: Box<Tagged>, right: Box<Tagged> },
    Sub { left: Box<Tagged>, right: Box<Tagged> },
    Leaf { n: u8 },
}

/// Two alternatives, both of which lead back.
#[derive(JsonSchema)]
#[serde(tag = "t")]
#[expect(dead_code, reason = "only its schema is used")]
enum Pair {
    A { next: Option<Box<Pair>> },
    B { next: Option<Box<Pair>> },
}

#[derive(JsonSchema)]
#[serde(tag = "t", content = "c")]
#[expect(dead_code, reason = "only its schema is used")]
enum Adjacent {
    A(Box<Adjacent>),
    B(Box<Adjacent>),
    Leaf(u8),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
enum External {
    A(Box<External>),
    B(Vec<External>),
    Leaf(u8),
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Untagged {
    A { next: Box<Untagged>, x: u8 },
    B { next: Box<Untagged>, y: u8 },
    Leaf(u8),
}

fn takes<T: JsonSchema>(around: (&str, &str), good: &str, bad: &str) {
    let schemas = schemas_of::<Holds<T>, ()>().unwrap_or_else(|fault| panic!("{fault}"));
    let validators = Validators::compile(&schemas).expect("it compiles");
    let nested = |inner: &str| format!("{{\"value\":{}{inner}{}}}", around.0.repeat(24), around.1.repeat(24));
    let started = Instant::now();
    assert!(validators.arguments(nested(good).as_bytes()).is_ok(), "{}", nested(good));
    let fault = validators.arguments(nested(bad).as_bytes()).expect_err("refused");
    let place = around.0.matches("next").count() + around.0.matches("left").count();
    assert!(fault.message.matches('/').count() > 24 * place, "the innermost mistake is told: {fault}");
    assert!(!fault.schema_path.as_deref().unwrap_or_default().contains("/then"), "{fault:?}");
    println!("{} {:?}", core::any::type_name::<T>(), started.elapsed());
    assert!(started.elapsed() < Duration::from_secs(20), "{}", core::any::type_name::<T>());
}

#[test]
fn every_way_to_write_alternatives_is_linear() {
    let leaf = (r#"{"op":"Leaf","n":9}"#, r#"{"op":"Leaf","n":999}"#);
    takes::<Tagged>((r#"{"op":"Sub","right":{"op":"Leaf","n":1},"left":"#, "}"), leaf.0, leaf.1);
    takes::<Pair>((r#"{"t":"B","next":"#, "}"), r#"{"t":"A"}"#, r#"{"t":"A","next":999}"#);
    takes::<Adjacent>((r#"{"t":"B","c":"#, "}"), r#"{"t":"Leaf","c":9}"#, r#"{"t":"Leaf","c":999}"#);
    takes::<External>((r#"{"B":["#, "]}"), r#"{"Leaf":9}"#, r#"{"Leaf":999}"#);
    takes::<Untagged>((r#"{"next":"#, r#","y":1}"#), "9", "999");
}

#[test]
fn alternatives_that_cannot_be_told_apart_are_a_fault() {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Same {
        A { next: Option<Box<Same>>, x: Option<u8> },
        B { next: Option<Box<Same>>, y: Option<u8> },
    }
    let fault = schemas_of::<Holds<Same>, ()>().expect_err("a fault").to_string();
    assert!(fault.contains("give the enum a tag"), "{fault}");

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Around {
        #[serde(flatten)]
        pair: Inside,
    }
    #[derive(JsonSchema)]
    #[serde(tag = "t")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Inside {
        A { around: Option<Box<Around>> },
        B { z: u8 },
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Whole {
        own: u8,
        #[serde(flatten)]
        inside: Holding,
    }
    #[derive(JsonSchema)]
    #[serde(tag = "t")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Holding {
        A { whole: Option<Box<Whole>> },
        B { whole: Option<Box<Whole>> },
    }
    assert!(schemas_of::<Holds<Around>, ()>().is_ok());
    let fault = schemas_of::<Holds<Whole>, ()>().expect_err("a fault").to_string();
    assert!(fault.contains("does not hold the type around it"), "{fault}");
}

#[test]
fn a_type_that_may_be_nothing_but_itself_is_a_fault() {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Again {
        Boxed(Box<Again>),
        Number(u8),
    }
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum There {
        Back(Box<AndBack>),
        Number(u8),
    }
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum AndBack {
        There(Box<There>),
        Text(String),
    }
    for fault in [schemas_of::<Holds<Again>, ()>(), schemas_of::<Holds<There>, ()>()] {
        let fault = fault.expect_err("a fault").to_string();
        assert!(fault.contains("more than itself"), "{fault}");
    }
}
