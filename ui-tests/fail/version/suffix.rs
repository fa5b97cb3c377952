//! A version has no suffix.

use capability_core::capability;

#[capability(name = "web.search", version = 1u32, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
