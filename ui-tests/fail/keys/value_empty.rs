//! A key with `=` and nothing behind it.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, title =)]
async fn search(query: String) -> String {
    query
}

fn main() {}
