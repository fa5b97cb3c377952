//! A scope is a name without quotes.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, scope = "query")]
async fn search(query: String) -> String {
    query
}

fn main() {}
