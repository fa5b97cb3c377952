//! A description may come from a macro: a file, or text put together.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;

/// Written here.
#[doc = concat!("Put ", "together.")]
#[capability(name = "docs.concat", version = 1, side_effect = read_only, network = local)]
fn concat(#[doc = concat!("How ", "much.")] amount: u8) -> u8 {
    amount
}

#[capability(name = "docs.file", version = 1, side_effect = read_only, network = local)]
#[doc = include_str!("description.md")]
fn file() {}

macro_rules! described {
    ($text:literal) => {
        #[doc = $text]
        #[capability(name = "docs.literal", version = 1, side_effect = read_only, network = local)]
        fn literal() {}
    };
}
described!("From a macro.");

fn main() {
    let mut descriptions: Vec<_> = CAPABILITIES.iter().map(|entry| entry.description().trim_end()).collect();
    descriptions.sort_unstable();
    assert_eq!(descriptions, ["From a file.", "From a macro.", "Written here.\n\nPut together."]);
}
