//! An argument is parsed.

use capability_core::capability;
use schemars::JsonSchema;

#[derive(JsonSchema)]
pub struct Query {}

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: Query) {
    let _ = query;
}

fn main() {}
