//! A workspace is lent for reading or for writing.

use capability_core::{Workspace, capability};

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(workspace: &Workspace<String>) -> String {
    let _ = workspace;
    String::new()
}

fn main() {}
