//! Versions of one name live side by side.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;

#[capability(name = "text.length", version = 1, side_effect = read_only, network = local)]
fn length_v1(text: String) -> usize {
    text.len()
}

#[capability(name = "text.length", version = 0x0000_0002, side_effect = read_only, network = local)]
fn length_v2(text: String) -> usize {
    text.chars().count()
}

fn main() {
    let mut versions: Vec<_> = CAPABILITIES.iter().map(ToString::to_string).collect();
    versions.sort_unstable();
    assert_eq!(versions, ["text.length@1", "text.length@2"]);
}
