//! The description is the doc comment.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, description = "Searches")]
async fn search(query: String) -> String {
    query
}

fn main() {}
