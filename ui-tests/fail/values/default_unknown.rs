//! A default is one of two words.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, default = refuse)]
async fn search(query: String) -> String {
    query
}

fn main() {}
