//! A handle is a type and not a trait.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: &dyn Send) {
    let _ = query;
}

fn main() {}
