//! What others call a deadline is the timeout.

use capability_core::capability;

#[capability(name = "web.find", version = 1, side_effect = read_only, network = local, bounds(deadline = "2s"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
