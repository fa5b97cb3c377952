//! A call may move between threads.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(query: String) -> String {
    let shared = std::rc::Rc::new(query);
    std::future::ready(()).await;
    shared.to_string()
}

fn main() {}
