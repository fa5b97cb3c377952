//! Each spelling is a mistake of its own, and all are shown.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, confirm = false, requires_approval = false)]
async fn search(query: String) -> String {
    query
}

fn main() {}
