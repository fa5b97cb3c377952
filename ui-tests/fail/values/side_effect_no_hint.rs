//! Nothing is guessed where nothing was understood.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = seven, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
