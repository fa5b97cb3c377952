//! No call may run longer than the ceiling.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timeout = "6min"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
