//! A target has a kind, and the argument stands in parentheses.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, target = query)]
async fn search(query: String) -> String {
    query
}

fn main() {}
