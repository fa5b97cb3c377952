//! Sizes are counted in powers of 1024.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(max_result = "64 KB"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
