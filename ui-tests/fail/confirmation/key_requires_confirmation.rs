//! `requires_confirmation` is a way to write a confirmation down.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, requires_confirmation = true)]
async fn search(query: String) -> String {
    query
}

fn main() {}
