//! A version is not part of a name.

use capability_core::capability;

#[capability(name = "web.search.v2", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
