//! What is locked has nothing to run.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, locked)]
async fn search(query: String) -> String {
    query
}

fn main() {}
