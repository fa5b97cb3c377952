//! What is locked is never prepared.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, locked, check = check_search)]
async fn search(query: String) -> String;

pub fn check_search(_: &str) -> Result<(), String> {
    Ok(())
}

fn main() {}
