//! Called through the registry and nothing else.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
extern "C" fn search(query: u8) -> u8 {
    query
}

fn main() {}
