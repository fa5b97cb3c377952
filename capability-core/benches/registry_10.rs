//! A registry of 10 entries.

mod registry;

ten!();

fn main() {
    registry::measure();
}
