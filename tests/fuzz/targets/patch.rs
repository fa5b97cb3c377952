//! A patch, and the file that it is applied to.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|texts: (&str, &str)| capabilities::fs::patch::hold(texts.0, texts.1));
