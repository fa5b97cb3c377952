//! The side effect is the value of a key.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, read_only)]
async fn search(query: String) -> String {
    query
}

fn main() {}
