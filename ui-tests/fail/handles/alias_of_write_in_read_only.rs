//! An alias hides nothing.

use capability_core::capability;
use capability_core::handle::{Workspace, Write};

type Files = Workspace<Write>;

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local)]
async fn list(files: &Files) {
    let _ = files;
}

fn main() {}
