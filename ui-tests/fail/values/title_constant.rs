//! A title is a literal.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, title = TITLE)]
async fn search(query: String) -> String {
    query
}

const TITLE: &str = "Search";

fn main() {}
