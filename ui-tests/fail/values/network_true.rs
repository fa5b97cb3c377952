//! `true` does not say where data goes; the help takes the stricter reading.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = true)]
async fn search(query: String) -> String {
    query
}

fn main() {}
