//! A registry of 10 entries.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that goes wrong stops, and what it prints is its result"
)]

mod registry;

ten!();

fn main() {
    registry::measure();
}
