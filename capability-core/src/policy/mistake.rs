//! What is wrong with something that was written into a policy.

use core::fmt;

/// What is wrong, and what would be right. Whoever read the file adds the file, the line and the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// What would be right.
    pub help: String,
}

impl Mistake {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into() }
    }
}

impl fmt::Display for Mistake {
    /// Two lines: the sentence, and `help: ` with what would be right.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.what, self.help)
    }
}

impl core::error::Error for Mistake {}
