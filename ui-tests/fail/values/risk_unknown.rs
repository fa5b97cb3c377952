//! A risk is one of four words.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, risk = severe)]
async fn search(query: String) -> String {
    query
}

fn main() {}
