//! No turn may call it more often than the ceiling.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(per_turn = 1001))]
async fn search(query: String) -> String {
    query
}

fn main() {}
