//! An author cannot lower what policy starts from.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, default = allow)]
async fn search(query: String) -> String {
    query
}

fn main() {}
