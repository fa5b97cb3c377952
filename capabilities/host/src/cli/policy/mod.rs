//! `policy`: the operator's rules, one file for each question about them.

mod check;
mod show;

pub use check::check;
pub use show::show;
