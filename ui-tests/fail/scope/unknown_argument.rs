//! A scope names one of the arguments.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, scope = server)]
async fn search(query: String) -> String {
    query
}

fn main() {}
