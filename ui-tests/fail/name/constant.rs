//! A name is a literal.

use capability_core::capability;

const NAME: &str = "web.search";

#[capability(name = NAME, version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
