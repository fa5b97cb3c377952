//! A handle is there or it is not.

use capability_core::{Clock, capability};

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(clock: Option<&Clock>) -> bool {
    clock.is_some()
}

fn main() {}
