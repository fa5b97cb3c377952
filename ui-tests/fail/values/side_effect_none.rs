//! The word of another system is understood and replaced.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = none, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
