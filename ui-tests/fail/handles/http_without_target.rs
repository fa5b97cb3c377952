//! What may be reached is declared.

use capability_core::capability;
use capability_core::handle::{Http};

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn fetch(http: &Http, url: String) -> String {
    let _ = http;
    url
}

fn main() {}
