//! A handle's description, too.

use capability_core::capability;
use capability_core::handle::Context;

const DESCRIPTION: &str = "Who asks";

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[doc = DESCRIPTION] context: &Context) {
    let _ = context;
}

pub const USED: &str = DESCRIPTION;

fn main() {}
