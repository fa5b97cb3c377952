//! A number too large to hold is above the ceiling.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timeout = "99999999999999999999s"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
