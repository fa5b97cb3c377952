//! The host has a runtime; `main` is somebody else.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
#[tokio::main]
async fn search(query: String) -> String {
    query
}

fn main() {}
