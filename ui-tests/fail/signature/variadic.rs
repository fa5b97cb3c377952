//! Every argument is a property.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
fn search(query: u8, _: ...) -> u8 {
    query
}

fn main() {}
