//! Versions start at 1.

use capability_core::capability;

#[capability(name = "web.search", version = 0, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
