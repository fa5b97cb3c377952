//! What a schema accepts, serde accepts; what is executed, the exported schema accepts.

use capability_core::__validation::{Validators, hold_for_arguments, schemas_of};
use capability_core::ArgumentCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::sampler::{self, Choices};
use crate::zoo::{self, Holds};

/// How many calls are generated for each type.
const CALLS: usize = 3_000;

/// Whether serde may refuse what the schema accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Never.
    Exact,
    /// A rule about values that no keyword expresses: serde refuses at validate, before anybody is asked.
    ByValue,
}

#[derive(Default, Debug)]
struct Counts {
    calls: usize,
    accepted: usize,
    refused_by_serde: usize,
}

/// Runs the law for one type. `T` stands as the arguments' one property.
fn agree<T: JsonSchema + DeserializeOwned + Serialize>(format: Format, seed: u64) -> Counts {
    let name = core::any::type_name::<T>();
    let schemas = schemas_of::<Holds<T>, Holds<T>>().unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let validators = Validators::compile(&schemas).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let oracle = jsonschema::options()
        .should_validate_formats(true)
        .build(schemas.arguments())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut choices = Choices::new(seed);
    let mut counts = Counts::default();
    for _ in 0..CALLS {
        let sample = sampler::instance(schemas.arguments(), &mut choices);
        let sample = if choices.one_in(2) { sample } else { sampler::mutated(sample, &mut choices) };
        let raw = sample.to_string();
        counts.calls += 1;
        let arguments = match validators.arguments(raw.as_bytes()) {
            Ok(arguments) => arguments,
            Err(fault) => {
                // A refusal that the exported schema does not share is one of the few that precede it.
                let exact = fault.help.contains("fraction and exponent") && raw.contains(['e', '.']);
                assert!(
                    fault.code != ArgumentCode::Schema || !oracle.is_valid(&sample) || exact,
                    "{name}: {raw} is refused without the schema: {fault}"
                );
                continue;
            }
        };
        counts.accepted += 1;
        let executed: Value = serde_json::from_slice(arguments.as_bytes()).expect("canonical JSON");
        assert!(oracle.is_valid(&sample) && oracle.is_valid(&executed), "{name}: {raw} would run against its schema");
        match serde_json::from_slice::<Holds<T>>(arguments.as_bytes()) {
            Ok(typed) => {
                let result = serde_json::to_vec(&typed).expect("it serialises");
                validators.result(&result).unwrap_or_else(|fault| {
                    panic!("{name}: {raw} comes back as {}: {fault}", String::from_utf8_lossy(&result))
                });
            }
            Err(error) => {
                counts.refused_by_serde += 1;
                assert!(format == Format::ByValue, "{name}: {raw} passes the schema and not serde: {error}");
            }
        }
        if counts.accepted % 64 == 0 {
            hold_for_arguments(&validators, &schemas, raw.as_bytes());
        }
    }
    assert!(counts.accepted * 8 >= counts.calls, "{name}: the sampler hardly ever meets the schema: {counts:?}");
    counts
}

macro_rules! agreement {
    ($($(#[$only:meta])* $test:ident: $format:ident { $($type:ty),* $(,)? })*) => {
        $(
            $(#[$only])*
            #[test]
            fn $test() {
                let mut calls = 0;
                $(
                    let counts = agree::<$type>(Format::$format, calls as u64 + 7);
                    println!("{:40} {counts:?}", stringify!($type));
                    calls += counts.calls;
                )*
                assert!(calls > 0);
            }
        )*
    };
}

agreement! {
    scalars: Exact {
        bool, u8, i64, u64, f32, f64, String, char, zoo::Empty, zoo::Sized_, zoo::NonZero, zoo::Bounded, zoo::Floats, zoo::Char,
        zoo::Unit, (),
    }
    optional: Exact { Option<u8>, Option<zoo::Plain>, Option<zoo::Documented>, zoo::Optional }
    enums: Exact {
        zoo::Plain, zoo::Documented, zoo::External, zoo::Internal, zoo::InternalClosed, zoo::Adjacent, zoo::Untagged,
    }
    flattened: Exact {
        zoo::FlatStruct, zoo::FlatMap, zoo::FlatExternal, zoo::FlatInternal, zoo::FlatTwo, zoo::FlatOption,
    }
    recursive: Exact { zoo::List, zoo::Tree, zoo::Ping, zoo::Expression }
    containers: Exact {
        zoo::Maps, zoo::Tuples, zoo::Newtype, zoo::Transparent, zoo::Bytes, zoo::Nested, zoo::Results,
        std::collections::BTreeMap<String, Option<zoo::Leaf>>, Vec<(u8, zoo::Plain)>,
    }
    attributes: Exact { zoo::Renamed, zoo::Defaulted, zoo::Denying, zoo::Converted, zoo::Addresses }
    #[cfg(feature = "jsonschema")]
    matched: Exact { zoo::Text, zoo::Linked }
    // The width of an integer key, and the sum of seconds and nanoseconds, are rules that no keyword expresses.
    by_value: ByValue { zoo::IntegerKeys, zoo::Lasts }
}
