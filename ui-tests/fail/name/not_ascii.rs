//! A name is plain ASCII.

use capability_core::capability;

#[capability(name = "web.söök", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
