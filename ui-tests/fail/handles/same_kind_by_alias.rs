//! An alias hides nothing.

use capability_core::capability;
use capability_core::handle::{Clock};

type Watch = Clock;

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local)]
async fn list(a: &Clock, b: &Watch) {
    let _ = (a, b);
}

fn main() {}
