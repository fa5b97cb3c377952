//! `policy`: the operator's rules, one file for each question about them.

mod check;
mod compare;
mod explain;
mod matrix;
mod reach;
mod show;

pub use check::check;
pub use compare::{accept, compare};
pub use explain::{Explain, explain};
pub use matrix::matrix;
pub use reach::{ReachArgs, reach};
pub use show::show;

/// Lines that were laid out already, with what cannot be seen written as escapes.
fn plainly(text: &str) -> String {
    text.lines().map(|line| crate::display::text::written_out(line) + "\n").collect()
}
