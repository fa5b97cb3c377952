//! One `=` is enough.

use capability_core::capability;

#[capability(name == "web.find", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
