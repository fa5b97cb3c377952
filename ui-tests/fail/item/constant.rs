//! A capability is a function, and a constant is none.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
pub const SEARCH: u8 = 0;

fn main() {}
