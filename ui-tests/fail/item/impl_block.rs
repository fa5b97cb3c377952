//! A capability is a function, and an `impl` block is none.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
impl Search {}

pub struct Search;

fn main() {}
