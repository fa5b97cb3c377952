//! The word itself, not the path of a variant.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = Network::External)]
async fn search(query: String) -> String {
    query
}

fn main() {}
