//! Reading and writing are one kind.

use capability_core::capability;
use capability_core::handle::{Read, Workspace, Write};

#[capability(name = "home.state", version = 1, side_effect = mutating, network = local)]
async fn list(source: &Workspace<Read>, copy: &Workspace<Write>) {
    let _ = (source, copy);
}

fn main() {}
