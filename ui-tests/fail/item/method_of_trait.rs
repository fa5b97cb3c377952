//! A method of a trait is one mistake: that it has no body is not another.

use capability_core::capability;

pub trait Search {
    #[capability(name = "web.search", version = 1, side_effect = read_only, network = external)]
    fn search(&self);
}

fn main() {}
