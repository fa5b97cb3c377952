//! A borrowed parameter is a handle.

use std::time::Duration;

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(pause: &Duration) -> u64 {
    pause.as_secs()
}

fn main() {}
