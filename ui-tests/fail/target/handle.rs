//! A handle is no argument.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, target = host(clock))]
async fn fetch(clock: &Clock) {
    let _ = clock;
}

fn main() {}
