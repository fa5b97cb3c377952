//! Bounds are written in `bounds(..)`.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, max_per_turn = 4)]
async fn search(query: String) -> String {
    query
}

fn main() {}
