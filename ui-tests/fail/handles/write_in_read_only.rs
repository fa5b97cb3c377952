//! A read-only capability changes nothing.

use capability_core::capability;
use capability_core::handle::{Workspace, Write};

#[capability(name = "home.state", version = 1, side_effect = read_only, network = local)]
async fn list(workspace: &Workspace<Write>) {
    let _ = workspace;
}

fn main() {}
