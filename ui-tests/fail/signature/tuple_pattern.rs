//! An argument has a name.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search((query, limit): (String, u32)) -> String {
    query.repeat(limit as usize)
}

fn main() {}
