//! A path in front does not hide it.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
#[policy::confirmation = "none"]
async fn search(query: String) -> String {
    query
}

fn main() {}
