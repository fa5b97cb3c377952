//! An argument's type has a name, inside and out.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: Vec<impl Into<String>>) -> usize {
    query.len()
}

fn main() {}
