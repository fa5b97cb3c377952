//! A misspelt bound gets a suggestion.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timout = "10s"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
