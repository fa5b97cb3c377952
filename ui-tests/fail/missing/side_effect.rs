//! `side_effect` is always written.

use capability_core::capability;

#[capability(name = "web.search", version = 1, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
