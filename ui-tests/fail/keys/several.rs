//! Every mistake is shown at once.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, colour = blue, risk = huge, version = 2)]
async fn search(query: String) -> String {
    query
}

fn main() {}
