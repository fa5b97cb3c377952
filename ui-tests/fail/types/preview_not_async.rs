//! A preview is async.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, preview = preview_search)]
async fn search(query: String) -> String {
    query
}

fn preview_search(query: &str) -> Result<String, String> {
    Ok(query.to_owned())
}

fn main() {}
