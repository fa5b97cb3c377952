//! A confirmation as an attribute of a struct.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
#[auto_approve]
pub struct Search {
    pub query: String,
}

fn main() {}
