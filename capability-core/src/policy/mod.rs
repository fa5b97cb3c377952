//! Whether an invocation may run, and what it takes.
//!
//! A verdict is the maximum over pure contributors: their order cannot matter, and none can lower another.

pub mod analysis;
mod contributor;
mod mistake;
pub mod pattern;
mod rule;
mod selector;
mod target;
mod verdict;
mod window;

pub use contributor::{CONTRIBUTORS, Contribution, Contributor, OptIn, Question, evaluate};
pub use mistake::Mistake;
pub use rule::{Example, ExampleTarget, MAX_EXCEPTIONS, MaxGrant, Reason, Rule, RuleEffect, RuleId};
pub use selector::{CapabilityPattern, Dimension, Selector};
pub use target::{MAX_TEXT_BYTES, PlacePattern, TargetFamily, TargetPattern, TextPattern};
pub use verdict::{Decision, Verdict};
pub use window::{Days, Window, ZoneName, minute_of_week};
