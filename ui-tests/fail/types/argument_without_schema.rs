//! An argument has a schema.

use capability_core::capability;
use serde::Deserialize;

#[derive(Deserialize)]
pub struct Query {}

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: Query) {
    let _ = query;
}

fn main() {}
