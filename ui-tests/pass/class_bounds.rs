//! Without written bounds, the class's own; without a written risk or default, the class's, too.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::{CAPABILITIES, DefaultEffect, TargetKind};
use capability_core::capability;

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local)]
fn state() -> u8 {
    0
}

#[capability(name = "home.report", version = 1, side_effect = mutating, network = external, bounds(per_turn = 2), target = none)]
fn report() -> u8 {
    0
}

fn main() {
    let mut entries: Vec<_> = CAPABILITIES.iter().map(|entry| format!("{entry:?}")).collect();
    entries.sort();
    assert!(entries[0].starts_with("home.report@1 (mutating + external, 15 s, 64 KiB, 2 per turn,"), "{entries:?}");
    assert!(entries[1].starts_with("home.state@1 (read_only + local, 5 s, 64 KiB, 16 per turn,"), "{entries:?}");
    assert!(CAPABILITIES.iter().all(|entry| entry.default_effect() == DefaultEffect::Floor));
    assert!(CAPABILITIES.iter().all(|entry| entry.target().kind == TargetKind::None));
}
