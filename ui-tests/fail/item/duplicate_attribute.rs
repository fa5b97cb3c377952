//! One function is one capability.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
#[capability(name = "web.search", version = 2, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
