//! Each argument is a property of its own.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String, #[serde(rename = "query")] text: String) -> String {
    query + &text
}

fn main() {}
