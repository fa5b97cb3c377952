//! A comma stands between two keys.

use capability_core::capability;

#[capability(name = "web.search" version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
