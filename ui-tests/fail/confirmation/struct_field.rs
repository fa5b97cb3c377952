//! A confirmation as a field of a struct.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
pub struct Search {
    pub query: String,
    pub requires_approval: bool,
}

fn main() {}
