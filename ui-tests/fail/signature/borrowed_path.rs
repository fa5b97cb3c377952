//! A borrowed path is one mistake.

use std::path::Path;

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(file: &Path) -> bool {
    file.is_absolute()
}

fn main() {}
