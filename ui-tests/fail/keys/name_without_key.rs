//! The name has a key, too.

use capability_core::capability;

#[capability("web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
