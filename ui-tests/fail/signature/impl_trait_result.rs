//! A result's type has a name.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> impl Into<String> {
    query
}

fn main() {}
