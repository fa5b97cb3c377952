//! A registry of 10000 entries.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that goes wrong stops, and what it prints is its result"
)]

mod registry;

thousand!("0");
thousand!("1");
thousand!("2");
thousand!("3");
thousand!("4");
thousand!("5");
thousand!("6");
thousand!("7");
thousand!("8");
thousand!("9");

fn main() {
    registry::measure();
}
