//! Colons in place of `=`: each value is kept in its help.

use capability_core::capability;

#[capability(name: "web.find", version: 2, side_effect: mutating, network: local)]
async fn search(query: String) -> String {
    query
}

fn main() {}
