//! `Self` has no meaning outside of an `impl`.

use capability_core::capability;

pub struct Search;

impl Search {
    #[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
    pub fn search() -> Self {
        Self
    }
}

fn main() {}
