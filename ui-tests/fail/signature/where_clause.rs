//! There is nothing for a `where` to be about.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String
where
    String: Clone,
{
    query
}

fn main() {}
