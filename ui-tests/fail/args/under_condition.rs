//! `#[args]` is there or it is not.

use capability_core::capability;
use schemars::JsonSchema;
use serde::Deserialize;

/// What to look for.
#[derive(Deserialize, JsonSchema)]
pub struct Query {
    /// In plain words.
    pub text: String,
}

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[cfg_attr(all(), args)] query: Query) -> String {
    query.text
}

fn main() {}
