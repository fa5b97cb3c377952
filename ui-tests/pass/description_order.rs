//! The description is found wherever other attributes stand, and its soft line breaks are joined.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;

/// First line
/// and its continuation.
#[must_use]
///
/// Second paragraph, `code` and é ☃ "quotes".
#[capability(name = "docs.both", version = 1, side_effect = read_only, network = local)]
#[inline]
/// - one
/// - two
fn both() -> u8 {
    0
}

/** A block comment
    with a second line. */
#[capability(name = "docs.block", version = 1, side_effect = read_only, network = local)]
fn block() {}

#[capability(name = "docs.none", version = 1, side_effect = read_only, network = local)]
#[doc(hidden)]
fn none() {}

fn main() {
    let of = |name: &str| {
        let entry = CAPABILITIES.iter().find(|entry| entry.name().as_str() == name);
        entry.map(|entry| entry.description())
    };
    let both_says = "First line and its continuation.\n\nSecond paragraph, `code` and é ☃ \"quotes\".\n- one\n- two";
    assert_eq!(of("docs.both"), Some(both_says));
    assert_eq!(of("docs.block"), Some("A block comment with a second line."));
    assert_eq!(of("docs.none"), Some(""));
    let _ = both();
}
