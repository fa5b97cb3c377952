//! What others call an id is the name.

use capability_core::capability;

#[capability(id = "web.find", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
