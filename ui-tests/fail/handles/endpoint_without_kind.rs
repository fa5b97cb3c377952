//! An endpoint has a kind of the author's own.

use capability_core::{Endpoint, capability};

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(endpoint: &Endpoint<String>) -> String {
    let _ = endpoint;
    String::new()
}

fn main() {}
