//! A misspelt required key is not missing as well.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_efect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
