//! Whether an invocation may run, and what it takes.
//!
//! A verdict is the maximum over pure contributors: their order cannot matter, and none can lower another. Rules are three of
//! them: the operator's, a workspace's, a package's. Within one source a denial is terminal, and among everything else the
//! narrowest rules count, where narrower means that one rule matches strictly less than another.

#[cfg(feature = "analysis")]
pub mod analysis;
mod contributor;
mod fit;
mod index;
mod judge;
mod mistake;
mod narrower;
mod paths;
pub mod pattern;
mod rule;
mod selector;
mod set;
mod targets;
mod verdict;
mod window;
mod written;

pub use contributor::{Binding, CONTRIBUTORS, Contribution, Contributor, OptIn, Question, evaluate, explain};
pub(crate) use contributor::{declared, evaluate_into};
pub use fit::{Lint, Registered};
pub use judge::{Considered, Fate, RulesSaid};
pub use mistake::Mistake;
pub(crate) use paths::PathRules;
pub use rule::{Example, ExampleTarget, MAX_EXCEPTIONS, MaxGrant, Reason, Rule, RuleEffect, RuleId};
pub use selector::{CapabilityPattern, Dimension, Selector};
pub use set::{
    MAX_BROUGHT_RULES, MAX_RULES, MemoryPolicy, Policy, PolicyMistake, PolicyRevision, PolicySource, RuleRef, Source,
    SourceKind, Zones,
};
pub use targets::{Acted, MAX_TEXT_BYTES, PlacePattern, TargetFamily, TargetPattern, TextPattern, Unreadable};
pub use verdict::{Change, Decision, Flip, Verdict};
pub use window::{Days, Window, ZoneName, minute_of_week};
