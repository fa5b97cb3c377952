//! A parameter's attributes are few.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[validate(length = 3)] query: String) -> String {
    query
}

fn main() {}
