//! A misspelt word gets a suggestion.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = extrenal)]
async fn search(query: String) -> String {
    query
}

fn main() {}
