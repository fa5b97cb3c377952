//! A local capability reaches nothing outside.

use capability_core::capability;
use capability_core::handle::{Http};

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local, target = url(url))]
async fn fetch(http: &Http, url: String) -> String {
    let _ = http;
    url
}

fn main() {}
