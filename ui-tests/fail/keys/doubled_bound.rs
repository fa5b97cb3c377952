//! A bound is written once.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timeout = "1s", timeout = "2s"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
