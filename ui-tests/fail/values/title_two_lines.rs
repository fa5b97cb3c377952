//! A title is one line.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, title = "Search\nthe web")]
async fn search(query: String) -> String {
    query
}

fn main() {}
