//! A capability is a function, and an alias is none.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
pub type Search = String;

fn main() {}
