//! No condition that only a caller can keep.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async unsafe fn search(query: String) -> String {
    query
}

fn main() {}
