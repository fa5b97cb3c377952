//! `version` is always written.

use capability_core::capability;

#[capability(name = "web.search", side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
