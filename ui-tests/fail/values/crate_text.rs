//! A crate is a path.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, crate = "capability_core")]
async fn search(query: String) -> String {
    query
}

fn main() {}
