//! What may never run is `locked`.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(per_turn = 0))]
async fn search(query: String) -> String {
    query
}

fn main() {}
