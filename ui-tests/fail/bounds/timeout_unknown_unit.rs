//! The units of a duration are few.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timeout = "1h"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
