//! An error has words.

use capability_core::capability;

pub struct Broken;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> Result<String, Broken> {
    Ok(query)
}

fn main() {}
