//! A name is a literal, and a macro is none.

use capability_core::capability;

#[capability(name = concat!("web", ".search"), version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    query
}

fn main() {}
