//! Only the argument that does not fit is underlined.

use capability_core::capability;

pub struct Query;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(limit: u32, query: Query) {
    let _ = (limit, query);
}

fn main() {}
