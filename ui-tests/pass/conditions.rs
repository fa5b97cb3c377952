//! `#[cfg]` on the item is honoured above and below the attribute.
#![deny(unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;

#[cfg(any())]
#[capability(name = "condition.above", version = 1, side_effect = read_only, network = local)]
fn above(missing: Missing) {}

#[capability(name = "condition.below", version = 1, side_effect = read_only, network = local)]
#[cfg(any())]
fn below(missing: Missing) {}

#[capability(name = "condition.nested", version = 1, side_effect = read_only, network = local)]
#[cfg_attr(all(), cfg(any()))]
fn nested(missing: Missing) {}

#[cfg(all())]
#[capability(name = "condition.kept_above", version = 1, side_effect = read_only, network = local)]
fn kept_above() {}

#[capability(name = "condition.kept_below", version = 1, side_effect = read_only, network = local)]
#[cfg(all())]
#[cfg_attr(all(), allow(dead_code))]
fn kept_below() {}

fn main() {
    assert_eq!(CAPABILITIES.len(), 2);
}
