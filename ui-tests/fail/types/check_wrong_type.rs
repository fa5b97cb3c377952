//! A check takes what the function takes, borrowed.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, check = check_search)]
async fn search(query: String) -> String {
    query
}

fn check_search(limit: &u32) -> Result<(), String> {
    let _ = limit;
    Ok(())
}

fn main() {}
