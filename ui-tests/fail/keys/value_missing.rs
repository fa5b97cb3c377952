//! A key without its value.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, title)]
async fn search(query: String) -> String {
    query
}

fn main() {}
