//! One function is one capability.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search<T>(query: T) -> T {
    query
}

fn main() {}
