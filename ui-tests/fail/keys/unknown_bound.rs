//! A bound that resembles none is answered with all of them.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(memory = "1 MiB"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
