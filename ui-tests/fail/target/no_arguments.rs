//! A function without arguments has nothing to name.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, target = url(url))]
async fn fetch() {}

fn main() {}
