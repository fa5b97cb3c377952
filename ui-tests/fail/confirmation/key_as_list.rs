//! A confirmation with a list is still one.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, confirmation(automatic))]
async fn search(query: String) -> String {
    query
}

fn main() {}
