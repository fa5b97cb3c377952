//! Without anything between the parentheses the function's name is underlined.

use capability_core::capability;

#[capability]
async fn search(query: String) -> String {
    query
}

fn main() {}
