//! All that is missing is one error.

use capability_core::capability;

#[capability(name = "web.search", version = 1)]
async fn search(query: String) -> String {
    query
}

fn main() {}
