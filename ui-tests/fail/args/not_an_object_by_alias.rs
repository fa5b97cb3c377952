//! An alias hides nothing.

use capability_core::capability;

type Query = Vec<String>;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[args] query: Query) -> usize {
    query.len()
}

fn main() {}
