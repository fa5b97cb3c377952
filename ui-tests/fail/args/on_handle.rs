//! A handle is no argument.

use capability_core::capability;
use capability_core::handle::Context;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[args] context: &Context) {
    let _ = context;
}

fn main() {}
