//! A preview takes the handles and a borrow of each argument, and may fail with any error.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::handle::{Read, Workspace};
use capability_core::{Preview, capability};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    path: String,
}

#[capability(name = "preview.plain", version = 1, side_effect = read_only, network = local, preview = show)]
async fn plain(path: String, workspace: &Workspace<Read>, lines: Option<u32>) {
    let _ = (path, workspace, lines);
}

async fn show(workspace: &Workspace<Read>, path: &str, lines: &Option<u32>) -> Result<Preview, std::io::Error> {
    std::future::ready(()).await;
    Ok(Preview { text: format!("{workspace:?} {path} {lines:?}"), rests_on: Vec::new(), ..Preview::default() })
}

#[capability(name = "preview.whole", version = 1, side_effect = read_only, network = local, preview = show::whole)]
fn whole(#[args] edit: Edit) -> usize {
    edit.path.len()
}

mod show {
    pub(super) async fn whole(edit: &super::Edit) -> Result<super::Preview, String> {
        Err(edit.path.clone())
    }
}

fn main() {}
