//! Arguments and results are checked in one piece of memory; a tree finds the words. Both accept the same texts.

use std::collections::{BTreeMap, BTreeSet};

use capability_core::__validation::{Validators, hold_for_both_ways, hold_for_results, normalised, schemas_of};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde_json::json;

use crate::canonical::{damaged, respelt};
use crate::sampler::{self, Choices};
use crate::zoo::{self, Holds};

/// How many calls are generated for each type; each is sent in four spellings.
const CALLS: usize = 700;

/// How many texts were checked, and how many accepted.
#[derive(Default, Debug)]
struct Counts {
    texts: usize,
    accepted: usize,
}

fn both<T: JsonSchema>(seed: u64, counts: &mut Counts) {
    let name = core::any::type_name::<T>();
    let schemas = schemas_of::<Holds<T>, Holds<T>>().unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let validators = Validators::compile(&schemas).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let mut choices = Choices::new(seed);
    for _ in 0..CALLS {
        let sample = sampler::instance(schemas.arguments(), &mut choices);
        let sample = if choices.one_in(3) { sampler::mutated(sample, &mut choices) } else { sample };
        let plain = sample.to_string();
        let spelt = respelt(&sample, &mut choices);
        let broken: [Vec<u8>; 2] = [damaged(plain.clone(), &mut choices), damaged(spelt.clone(), &mut choices)];
        for text in [plain.as_bytes(), spelt.as_bytes()].into_iter().chain(broken.iter().map(Vec::as_slice)) {
            counts.texts += 1;
            counts.accepted += usize::from(hold_for_both_ways(&validators, text));
            if let Ok(text) = core::str::from_utf8(text) {
                hold_for_results(&validators, text);
            }
        }
        let result = sampler::instance(schemas.result(), &mut choices);
        hold_for_results(&validators, &result.to_string());
        hold_for_results(&validators, &sampler::mutated(result, &mut choices).to_string());
    }
}

macro_rules! zoo {
    ($($type:ty),* $(,)?) => {
        #[test]
        fn both_ways_accept_the_same_texts_of_every_type() {
            let mut counts = Counts::default();
            $(both::<$type>(counts.texts as u64 + 3, &mut counts);)*
            println!("{counts:?}");
            assert!(counts.texts >= 100_000, "{counts:?}");
            assert!(counts.accepted * 4 >= counts.texts, "the texts hardly ever meet their schemas: {counts:?}");
        }
    };
}

zoo! {
    bool, u8, i64, u64, f64, String, (), zoo::Empty, zoo::Sized_, zoo::NonZero, zoo::Bounded, zoo::Floats, zoo::Char,
    Option<u8>, zoo::Optional, zoo::Plain, zoo::Documented, zoo::External, zoo::Internal, zoo::InternalClosed,
    zoo::Adjacent, zoo::Untagged, zoo::FlatStruct, zoo::FlatMap, zoo::FlatExternal, zoo::FlatInternal, zoo::FlatTwo,
    zoo::FlatOption, zoo::List, zoo::Tree, zoo::Ping, zoo::Expression, zoo::Maps, zoo::Tuples, zoo::Transparent,
    zoo::Bytes, zoo::Dated, zoo::Nested, zoo::Results, zoo::Renamed, zoo::Defaulted, zoo::Denying, zoo::Addresses,
    zoo::IntegerKeys, zoo::Lasts, zoo::Stepped, BTreeMap<String, Option<zoo::Leaf>>, BTreeSet<String>, Vec<(u8, zoo::Plain)>,
}

/// Every keyword whose verdict looks at whole values.
fn comparing() -> Validators {
    let document = json!({
        "type": "object",
        "properties": {
            "unique": { "type": "array", "uniqueItems": true, "items": { "type": ["null", "boolean", "number", "string"] } },
            "listed": { "enum": [1, 2.5, "a", null, [1, { "b": 2 }], { "c": [true] }, 18446744073709551615_u64, -3] },
            "fixed": { "const": { "a": [1, -2, 0.5], "b": { "c": null } } },
            "multiple": { "type": "number", "multipleOf": 0.5, "minimum": -4, "exclusiveMaximum": 9.5 },
            "named": { "type": "object", "propertyNames": { "type": "string", "maxLength": 2 }, "minProperties": 1,
                "additionalProperties": { "type": "integer", "default": 4 } },
        },
        "additionalProperties": false,
    });
    Validators::compile(&normalised(document).expect("a schema")).expect("it compiles")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn both_ways_compare_values_alike(
        unique in prop::collection::vec(prop::sample::select(vec![
            "1", "1.0", "10e-1", "true", "null", "\"1\"", "\"\\u0031\"", "2.5", "25e-1", "-0", "0", "9007199254740993", "1e300",
        ]), 0..20),
        listed in prop::sample::select(vec![
            "1", "1.0", "2.5", "\"a\"", "\"\\u0061\"", "null", "[1,{\"b\":2}]", "[1.0,{\"b\":2e0}]", "[{\"b\":2},1]",
            "{\"c\":[true]}", "{\"c\":[true],\"d\":1}", "18446744073709551615", "18446744073709551614", "-3", "-3.0", "false",
        ]),
        fixed in prop::sample::select(vec![
            "{\"b\":{\"c\":null},\"a\":[1,-2,5e-1]}", "{\"a\":[1,-2,0.5],\"b\":{\"d\":null}}", "{\"a\":[1,-2],\"b\":{\"c\":null}}",
        ]),
        multiple in prop::sample::select(vec!["1", "1.5", "1.25", "-4", "-5", "9", "9.5", "1e1", "1e300", "null"]),
        named in prop::sample::select(vec!["{}", "{\"a\":1}", "{\"\u{e9}\u{e9}\":1.0}", "{\"abc\":1}", "{\"a\":1,\"\\u0061\":2}"]),
    ) {
        let validators = comparing();
        let unique = unique.join(",");
        let whole = format!("{{\"unique\":[{unique}],\"listed\":{listed},\"fixed\":{fixed},\"multiple\":{multiple},\"named\":{named}}}");
        hold_for_both_ways(&validators, whole.as_bytes());
        for part in [
            format!("{{\"unique\":[{unique}]}}"), format!("{{\"listed\":{listed}}}"), format!("{{\"fixed\":{fixed}}}"),
            format!("{{\"multiple\":{multiple}}}"), format!("{{\"named\":{named}}}"),
        ] {
            hold_for_both_ways(&validators, part.as_bytes());
        }
    }
}
