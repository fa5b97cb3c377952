//! A network is one of two words.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = internet)]
async fn search(query: String) -> String {
    query
}

fn main() {}
