//! A version fits 32 bits.

use capability_core::capability;

#[capability(name = "web.search", version = 4294967296, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
