//! Every bound that is wrong is shown.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external, bounds(timeout = "0s", max_result = "9 MiB", per_turn = 0))]
async fn search(query: String) -> String {
    query
}

fn main() {}
