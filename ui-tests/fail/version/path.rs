//! A version is a literal.

use capability_core::capability;

const VERSION: u32 = 1;

#[capability(name = "web.search", version = VERSION, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
