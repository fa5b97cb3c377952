//! A call ends.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> ! {
    loop {
        drop(query.clone());
    }
}

fn main() {}
