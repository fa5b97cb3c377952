//! One of each kind.

use capability_core::capability;
use capability_core::handle::{Clock};

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local)]
async fn list(a: &Clock, b: &Clock) {
    let _ = (a, b);
}

fn main() {}
