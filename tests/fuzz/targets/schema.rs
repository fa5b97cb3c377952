//! Schema documents, as a generator or somebody by hand might write them.
#![no_main]

use capability_core::__validation::hold_for_schema;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &[u8]| hold_for_schema(raw));
