//! A name is text.

use capability_core::capability;

#[capability(name = 7, version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
