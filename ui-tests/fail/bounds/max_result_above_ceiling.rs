//! No result may be larger than the ceiling.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(max_result = "9 MiB"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
