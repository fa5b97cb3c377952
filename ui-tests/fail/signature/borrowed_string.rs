//! `&String` is a borrowed argument, whatever it borrows.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: &String) -> String {
    query.clone()
}

fn main() {}
