//! A registry of 1000 entries.

mod registry;

thousand!();

fn main() {
    registry::measure();
}
