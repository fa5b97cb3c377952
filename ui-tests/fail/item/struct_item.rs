//! A capability is a function, and a struct is none.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
pub struct Search {
    pub query: String,
}

fn main() {}
