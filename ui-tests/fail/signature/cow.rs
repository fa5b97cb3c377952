//! A `Cow` with a lifetime borrows.

use std::borrow::Cow;

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: Cow<'_, str>) -> usize {
    query.len()
}

fn main() {}
