//! One `#[args]` is the whole object.

use capability_core::capability;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub text: String,
}

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(#[args] query: Query, #[args] other: Query) -> String {
    query.text + &other.text
}

fn main() {}
