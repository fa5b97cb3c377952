//! A registry of 1000 entries.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that goes wrong stops, and what it prints is its result"
)]

mod registry;

thousand!();

fn main() {
    registry::measure();
}
