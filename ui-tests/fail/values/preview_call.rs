//! A preview is a path and not a call.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, preview = preview_search())]
async fn search(query: String) -> String {
    query
}

fn main() {}
