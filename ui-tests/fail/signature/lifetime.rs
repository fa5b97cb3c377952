//! A handle needs no lifetime.

use capability_core::capability;
use capability_core::handle::Context;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search<'a>(context: &'a Context) -> u64 {
    context.turn().0
}

fn main() {}
