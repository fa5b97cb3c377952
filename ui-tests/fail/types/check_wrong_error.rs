//! A check refuses in words.

use capability_core::capability;

pub struct Broken;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, check = check_search)]
async fn search(query: String) -> String {
    query
}

fn check_search(query: &str) -> Result<(), Broken> {
    if query.is_empty() { Err(Broken) } else { Ok(()) }
}

fn main() {}
