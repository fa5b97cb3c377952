//! The compiler reports the syntax; the attribute does not call the function a thing that is none.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
fn search(type: String) -> String {
    String::new()
}

fn main() {}
