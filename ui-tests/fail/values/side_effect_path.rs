//! A word is no path.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = SideEffect::ReadOnly, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
