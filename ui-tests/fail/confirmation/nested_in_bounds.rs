//! A confirmation inside another key's list is still one.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timeout = "10s", confirmation = none))]
async fn search(query: String) -> String {
    query
}

fn main() {}
