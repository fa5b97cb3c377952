//! Every mistake in a head is shown at once, and the function stays callable.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
async unsafe fn search(query: &str, (a, b): (u8, u8)) -> usize {
    query.len() + usize::from(a + b)
}

pub async fn caller() -> usize {
    unsafe { search("", (1, 2)).await }
}

fn main() {}
