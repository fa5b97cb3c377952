//! After a mistake the function is still there for its callers.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, colour = blue)]
async fn search(query: String) -> String {
    query
}

pub async fn caller() -> String {
    search(String::new()).await
}

fn main() {}
