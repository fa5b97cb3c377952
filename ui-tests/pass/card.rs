//! The line of the card compiles with nothing added.
#![deny(warnings, unused_qualifications, unsafe_code)]

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn web_search(query: String) -> String {
    query
}

fn main() {}
