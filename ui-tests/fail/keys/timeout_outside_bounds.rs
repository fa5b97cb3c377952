//! Bounds are written in `bounds(..)`.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, timeout = "10s")]
async fn search(query: String) -> String {
    query
}

fn main() {}
