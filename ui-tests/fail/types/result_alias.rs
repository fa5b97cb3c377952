//! An alias hides nothing.

use capability_core::capability;

pub struct Found;

pub type Answer = Result<Found, String>;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> Answer {
    let _ = query;
    Ok(Found)
}

fn main() {}
