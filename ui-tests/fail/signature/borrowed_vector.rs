//! A borrowed vector is one mistake.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(queries: &Vec<String>) -> usize {
    queries.len()
}

fn main() {}
