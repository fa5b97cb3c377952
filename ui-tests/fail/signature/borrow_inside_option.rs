//! The help writes the whole type.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: Option<&str>) -> bool {
    query.is_some()
}

fn main() {}
