//! A description is fixed before constants have values.

use capability_core::capability;

const DESCRIPTION: &str = "Searches";

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
#[doc = DESCRIPTION]
async fn search(query: String) -> String {
    query
}

pub const USED: &str = DESCRIPTION;

fn main() {}
