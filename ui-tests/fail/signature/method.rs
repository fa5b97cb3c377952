//! A capability is a function, not a method.

use capability_core::capability;

pub struct Engine;

impl Engine {
    #[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
    async fn search(&self, query: String) -> String {
        query
    }
}

fn main() {}
