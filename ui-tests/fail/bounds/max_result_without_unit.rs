//! A size has a unit.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(max_result = "65536"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
