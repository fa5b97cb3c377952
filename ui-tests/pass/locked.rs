//! What is locked has a contract and no body, and no function comes of it.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::__private::CAPABILITIES;
use capability_core::capability;
use capability_core::handle::Clock;

/// Opens the front door.
#[capability(name = "door.open", version = 1, side_effect = mutating, network = local, locked)]
async fn open(clock: &Clock, door: String, #[serde(default)] minutes: u32) -> Result<(), String>;

/// The name is free.
const fn open() {}

fn main() {
    open();
    assert!(CAPABILITIES[0].is_locked());
    assert_eq!(CAPABILITIES[0].description(), "Opens the front door.");
}
