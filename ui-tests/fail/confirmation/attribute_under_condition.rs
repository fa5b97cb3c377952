//! A condition does not hide a confirmation.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
#[cfg_attr(all(), requires_approval(false))]
async fn search(query: String) -> String {
    query
}

fn main() {}
