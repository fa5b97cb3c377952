//! A segment starts with a letter.

use capability_core::capability;

#[capability(name = "web.2search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
