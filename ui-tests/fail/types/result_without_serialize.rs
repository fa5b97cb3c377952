//! A result is written.

use capability_core::capability;
use schemars::JsonSchema;

#[derive(JsonSchema)]
pub struct Found;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
fn search(query: String) -> Found {
    let _ = query;
    Found
}

fn main() {}
