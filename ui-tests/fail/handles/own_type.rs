//! A handle comes from the host.

use capability_core::capability;

pub struct Engine;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(engine: &Engine) {
    let _ = engine;
}

fn main() {}
