//! It runs when it is asked for.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
const fn search(query: u8) -> u8 {
    query
}

fn main() {}
