//! Whether an invocation may run, and what it takes.
//!
//! A verdict is the maximum over pure contributors: their order cannot matter, and none can lower another.

mod contributor;
mod verdict;

pub(crate) use contributor::evaluate_into;
pub use contributor::{CONTRIBUTORS, Contribution, Contributor, OptIn, Question, evaluate};
pub use verdict::{Decision, Verdict};
