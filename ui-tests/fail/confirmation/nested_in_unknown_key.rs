//! A confirmation inside a key that does not exist is one mistake.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, policy(confirm = false))]
async fn search(query: String) -> String {
    query
}

fn main() {}
