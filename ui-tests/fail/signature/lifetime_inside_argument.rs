//! An argument owns all of itself.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: std::borrow::Cow<'_, str>) -> usize {
    query.len()
}

fn main() {}
