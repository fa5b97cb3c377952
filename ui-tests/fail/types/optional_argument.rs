//! What is inside an argument is parsed and has a schema, too.

use capability_core::capability;

pub struct Query;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: Option<Query>) {
    let _ = query;
}

fn main() {}
