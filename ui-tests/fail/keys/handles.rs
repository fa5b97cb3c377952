//! What a function may reach is what it borrows.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, grants("net"))]
async fn search(query: String) -> String {
    query
}

fn main() {}
