//! Nor on a parameter.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[cfg_attr(all(), confirm(false))] query: String) -> String {
    query
}

fn main() {}
