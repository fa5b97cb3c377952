//! A borrowed number is a borrowed argument.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(limit: &u32) -> u32 {
    *limit
}

fn main() {}
