//! A confirmation for a struct is refused as a confirmation.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, confirmation = none)]
pub struct Search {
    pub query: String,
}

fn main() {}
