//! A side effect is one of two words.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = readonly, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
