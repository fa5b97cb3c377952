//! An argument object is an object.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[args] query: String) -> String {
    query
}

fn main() {}
