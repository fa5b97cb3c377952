//! Underscores are single.

use capability_core::capability;

#[capability(name = "web.search__all", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
