//! Every capability is bounded, and `None` is no bound.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timeout = None))]
async fn search(query: String) -> String {
    query
}

fn main() {}
