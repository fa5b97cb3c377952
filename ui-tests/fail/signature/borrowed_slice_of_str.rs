//! Arguments are owned, inside and out.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(terms: &[&str]) -> usize {
    terms.len()
}

fn main() {}
