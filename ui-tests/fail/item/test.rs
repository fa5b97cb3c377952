//! A test is called by its runner.

use capability_core::capability;

#[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
#[test]
fn search() {}

fn main() {}
