//! A handle is borrowed.

use capability_core::{Clock, capability};

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(clock: Clock) -> String {
    let _ = clock;
    String::new()
}

fn main() {}
