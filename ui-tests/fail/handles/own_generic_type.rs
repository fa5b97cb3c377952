//! A generic type that is no handle is one mistake, underlined as a whole.

use capability_core::capability;

pub struct Page<T>(pub T);

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async fn search(page: &Page<String>) -> String {
    page.0.clone()
}

fn main() {}
