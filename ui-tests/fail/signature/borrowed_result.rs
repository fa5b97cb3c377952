//! A result outlives its call.

use capability_core::capability;
use capability_core::handle::Context;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(context: &Context) -> &Context {
    context
}

fn main() {}
