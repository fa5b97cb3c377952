//! The lattice.

use serde::{Deserialize, Serialize};

use super::{CONTRIBUTORS, Contribution, Contributor};
use crate::code::Code;

/// What it takes before an invocation runs, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing.
    Allow,
    /// An answer: a ticket or a standing grant.
    Ask,
    /// A fresh answer to this very invocation: only a ticket.
    AskFresh,
    /// It does not run.
    Deny,
}

impl Verdict {
    /// The word used in explanations and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::AskFresh => "ask_fresh",
            Self::Deny => "deny",
        }
    }
}

impl core::fmt::Display for Verdict {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A verdict with everything it came from. It holds no argument text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a decision that is not looked at decides nothing"]
pub struct Decision {
    contributions: [Contribution; CONTRIBUTORS],
    verdict: Verdict,
}

impl Decision {
    /// What stands before anybody is asked: nothing is contributed, and nothing runs.
    pub(crate) const UNASKED: Self = {
        let [a, b, c, d, e, f, g, h] = Contributor::ALL;
        let contributions = [
            Contribution::clear(a),
            Contribution::clear(b),
            Contribution::clear(c),
            Contribution::clear(d),
            Contribution::clear(e),
            Contribution::clear(f),
            Contribution::clear(g),
            Contribution::clear(h),
        ];
        Self { contributions, verdict: Verdict::Deny }
    };

    /// Where each contributor's word is put.
    pub(super) const fn places(&mut self) -> &mut [Contribution; CONTRIBUTORS] {
        &mut self.contributions
    }

    /// Sets the maximum of what was contributed.
    pub(super) const fn conclude(&mut self, verdict: Verdict) {
        self.verdict = verdict;
    }

    /// The maximum of what was contributed.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// What every contributor said.
    #[must_use]
    pub const fn contributions(&self) -> &[Contribution; CONTRIBUTORS] {
        &self.contributions
    }

    /// Those whose word is the verdict, when it is above [`Verdict::Allow`].
    pub fn deciding(&self) -> impl Iterator<Item = Contribution> + '_ {
        let verdict = self.verdict();
        self.contributions.iter().copied().filter(move |said| said.verdict == verdict && verdict > Verdict::Allow)
    }

    /// The first deciding contributor's reason.
    #[must_use]
    pub fn code(&self) -> Code {
        self.deciding().next().map_or(Code::Clear, |said| said.code)
    }
}
