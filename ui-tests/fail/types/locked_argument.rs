//! What is locked has schemas, too.

use capability_core::capability;

pub struct Query;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, locked)]
async fn search(query: Query) -> String;

fn main() {}
