//! What others call it, with the author's value kept.

use capability_core::capability;

#[capability(name = "web.find", version = 1, effect = mutating, network = local)]
async fn search(query: String) -> String {
    query
}

fn main() {}
