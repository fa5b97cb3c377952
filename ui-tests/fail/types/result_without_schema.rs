//! A result has a schema.

use capability_core::capability;
use serde::Serialize;

#[derive(Serialize)]
pub struct Found;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> Result<Found, String> {
    let _ = query;
    Ok(Found)
}

fn main() {}
