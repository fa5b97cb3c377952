//! Letters that changed places are a slip, too.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, netwrok = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
