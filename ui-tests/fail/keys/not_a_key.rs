//! A value without a key.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, "web.search")]
async fn search(query: String) -> String {
    query
}

fn main() {}
