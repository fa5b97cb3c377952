//! One owned parameter can be the whole object.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::capability;
use capability_core::handle::Clock;
use schemars::JsonSchema;
use serde::Deserialize;

/// What to look for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Query {
    text: String,
    #[serde(default)]
    limit: u32,
}

type Aliased = Query;

#[capability(name = "args.first", version = 1, side_effect = read_only, network = local, check = sensible, target = text(text))]
async fn first(#[args] query: Query, clock: &Clock) -> String {
    let _ = clock;
    query.text
}

#[capability(name = "args.aliased", version = 1, side_effect = read_only, network = local)]
fn aliased(#[args] query: Aliased) -> u32 {
    query.limit
}

fn sensible(query: &Query) -> Result<(), &'static str> {
    if query.text.is_empty() { Err("nothing to look for") } else { Ok(()) }
}

fn main() {}
