//! A name is text, and no character.

use capability_core::capability;

#[capability(name = 'w', version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
