//! A slip of the finger does not turn a confirmation into an ordinary unknown key.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, confimation = none)]
async fn search(query: String) -> String {
    query
}

fn main() {}
