//! Argument bytes, against a schema with a choice, a map, defaults, bounds and a type that holds itself; the check of our own
//! against a general validator.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use capability_core::__validation::{Oracle, Validators, hold_for_arguments, schemas_of};
use capability_core::contract::Schemas;
use libfuzzer_sys::fuzz_target;
use schemars::JsonSchema;

#[derive(JsonSchema)]
struct Arguments {
    _query: Option<String>,
    #[schemars(range(min = -5, max = 5), default)]
    _small: i8,
    _large: Option<u64>,
    _ratio: Option<f64>,
    _shape: Option<Shape>,
    _labels: Option<BTreeMap<String, i64>>,
    _tree: Option<Tree>,
}

#[expect(dead_code, reason = "only their schema is used")]
#[derive(JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Circle { _radius: u32 },
    Square { _side: f32 },
}

#[derive(JsonSchema)]
struct Tree {
    _name: String,
    _children: Vec<Tree>,
}

static SCHEMAS: LazyLock<(Schemas, Validators, Oracle)> = LazyLock::new(|| {
    let schemas = schemas_of::<Arguments, ()>().expect("the type has a schema");
    let validators = Validators::compile(&schemas).expect("it compiles");
    let oracle = Oracle::of(&schemas).expect("it compiles both ways");
    (schemas, validators, oracle)
});

fuzz_target!(|raw: &[u8]| {
    let (schemas, validators, oracle) = &*SCHEMAS;
    hold_for_arguments(validators, schemas, raw);
    let _: Option<bool> = oracle.hold_for_arguments(raw);
});
