//! A misspelt argument gets a suggestion.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, target = url(ur1))]
async fn fetch(url: String) -> String {
    url
}

fn main() {}
