//! Messages of every kind of channel, from whoever knows the secret and from whoever does not: the first byte says which kind,
//! which content type, and which of the two.
#![no_main]

use capability_host::channel::verify::laws::hold_for_delivery;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &[u8]| hold_for_delivery(raw));
