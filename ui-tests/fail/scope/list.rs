//! A scope is one name.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, scope = (query, query))]
async fn search(query: String) -> String {
    query
}

fn main() {}
