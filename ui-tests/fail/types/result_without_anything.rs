//! A result is written and has a schema.

use capability_core::capability;

pub struct Found;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> Found {
    let _ = query;
    Found
}

fn main() {}
