//! A secret has a kind of the author's own.

use capability_core::{Secret, capability};

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(secret: &Secret<String>) -> String {
    format!("{secret:?}")
}

fn main() {}
