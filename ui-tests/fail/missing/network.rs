//! `network` is always written.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only)]
async fn search(query: String) -> String {
    query
}

fn main() {}
