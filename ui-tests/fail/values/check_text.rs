//! A check is a path.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, check = "check_search")]
async fn search(query: String) -> String {
    query
}

fn main() {}
