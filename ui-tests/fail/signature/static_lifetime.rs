//! A handle is lent for one call.

use capability_core::capability;
use capability_core::handle::Context;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(context: &'static Context) {
    let _ = context;
}

fn main() {}
