//! Declaring that there is none is not declaring one.

use capability_core::capability;
use capability_core::handle::{Http};

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, target = none)]
async fn fetch(http: &Http, url: String) -> String {
    let _ = http;
    url
}

fn main() {}
