//! A name is not empty.

use capability_core::capability;

#[capability(name = "", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
