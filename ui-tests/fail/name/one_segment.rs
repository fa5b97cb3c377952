//! A name has two segments at least.

use capability_core::capability;

#[capability(name = "search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
