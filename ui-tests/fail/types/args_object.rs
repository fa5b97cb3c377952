//! The whole object is parsed and has a schema.

use capability_core::capability;

pub struct Query;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[args] query: Query) {
    let _ = query;
}

fn main() {}
