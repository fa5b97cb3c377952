//! A comma stands between two bounds.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timeout = "1s" per_turn = 2))]
async fn search(query: String) -> String {
    query
}

fn main() {}
