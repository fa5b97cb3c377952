//! A parameter's description, too.

use capability_core::capability;

const DESCRIPTION: &str = "What to look for";

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[doc = DESCRIPTION] query: String) -> String {
    query
}

pub const USED: &str = DESCRIPTION;

fn main() {}
