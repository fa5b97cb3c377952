//! A manifest, of an agent or of one of its components.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| capability_host::subjects::hold(text));
