//! A misspelt attribute gets a suggestion.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[shcemars(length(max = 3))] query: String) -> String {
    query
}

fn main() {}
