//! Empty parentheses are nothing to underline either.

use capability_core::capability;

#[capability()]
async fn search(query: String) -> String {
    query
}

fn main() {}
