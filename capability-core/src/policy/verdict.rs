//! The lattice, and a verdict with everything it came from.

use serde::{Deserialize, Serialize};

use super::judge::RulesSaid;
use super::set::{RuleRef, SourceKind};
use super::{CONTRIBUTORS, Contribution, Contributor, MaxGrant};
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

/// Something that could be otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// The subject's manifest declares the capability.
    Declared,
    /// The session is live.
    LiveMode,
    /// The family's switch is on.
    SwitchedOn,
    /// The host serves every handle.
    Bound,
    /// This rule does not apply: it is taken back, made narrower, or another hour comes.
    WithoutRule {
        /// Which.
        rule: RuleRef,
    },
    /// An operator's rule that allows this, narrower than the entry's own default and than every rule that asks.
    NarrowerRule,
    /// Whoever the session acts for may do as much.
    BehindIt,
    /// What failed works again.
    Repaired,
}

/// The smallest change that gives a lower verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flip {
    /// What the verdict would be.
    pub to: Verdict,
    /// What would have to be otherwise, all of it.
    pub changes: Vec<Change>,
}

/// A verdict with everything it came from. It holds no argument text.
#[derive(Debug, Clone)]
#[must_use = "a decision that is not looked at decides nothing"]
pub struct Decision {
    contributions: [Contribution; CONTRIBUTORS],
    verdict: Verdict,
    /// Absent when there is no rule about the call.
    rules: Option<Box<RulesSaid>>,
}

impl Decision {
    /// What stands before anybody is asked: nothing is contributed, and nothing runs.
    pub(crate) const UNASKED: Self = {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = Contributor::ALL;
        let contributions = [
            Contribution::clear(a),
            Contribution::clear(b),
            Contribution::clear(c),
            Contribution::clear(d),
            Contribution::clear(e),
            Contribution::clear(f),
            Contribution::clear(g),
            Contribution::clear(h),
            Contribution::clear(i),
            Contribution::clear(j),
            Contribution::clear(k),
            Contribution::clear(l),
        ];
        Self { contributions, verdict: Verdict::Deny, rules: None }
    };

    /// Where each contributor's word is put.
    pub(super) const fn places(&mut self) -> &mut [Contribution; CONTRIBUTORS] {
        &mut self.contributions
    }

    /// Sets the maximum of what was contributed.
    pub(super) const fn conclude(&mut self, verdict: Verdict) {
        self.verdict = verdict;
    }

    /// Sets what rules had to do with it.
    pub(super) fn by_rules(&mut self, rules: Option<Box<RulesSaid>>) {
        self.rules = rules;
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

    /// Which rules were looked at and what became of them; none when there is no rule about the call.
    #[must_use]
    pub fn rules(&self) -> Option<&RulesSaid> {
        self.rules.as_deref()
    }

    /// How far a standing grant may go by the rules that match; none when no matching rule limits it.
    #[must_use]
    pub fn grant_limit(&self) -> Option<MaxGrant> {
        self.rules().and_then(RulesSaid::grant_limit)
    }

    /// The rules whose word is the verdict.
    pub fn deciding_rules(&self) -> impl Iterator<Item = RuleRef> + '_ {
        let (verdict, rules) = (self.verdict(), self.rules());
        let decides = move |at: &RuleRef| {
            rules.and_then(|rules| rules.policy().rule(*at)).is_some_and(|(_, rule)| rule.effect.verdict() == verdict)
        };
        rules.into_iter().flat_map(RulesSaid::deciding).filter(decides)
    }

    /// The smallest change that gives a lower verdict. None when there is nothing to lower, and when nothing can: a lock, a
    /// floor and a capability's own look at a call are no settings, and of rules about a call that acts on several things
    /// only one answer is known.
    #[must_use]
    pub fn flip(&self) -> Option<Flip> {
        let verdict = self.verdict();
        if verdict == Verdict::Allow {
            return None;
        }
        let (mut to, mut changes) = (Verdict::Allow, Vec::new());
        for said in &self.contributions {
            if said.verdict < verdict {
                to = to.max(said.verdict);
                continue;
            }
            match said.contributor {
                Contributor::Locked | Contributor::Floor | Contributor::Guard => return None,
                Contributor::Declared => changes.push(Change::Declared),
                Contributor::Mode => changes.push(Change::LiveMode),
                Contributor::OptIn => changes.push(Change::SwitchedOn),
                Contributor::Binding => changes.push(Change::Bound),
                Contributor::Delegation => changes.push(Change::BehindIt),
                Contributor::Fault => changes.push(Change::Repaired),
                Contributor::OperatorRules | Contributor::WorkspaceRules | Contributor::PackageRules => {
                    let kind = said.contributor.source().unwrap_or(SourceKind::Operator);
                    match &self.rules {
                        Some(rules) if rules.several => return None,
                        Some(rules) => to = to.max(rules.below(kind, verdict, &mut changes)),
                        // Without rules only the default speaks.
                        None => changes.push(Change::NarrowerRule),
                    }
                }
            }
        }
        (to < verdict).then_some(Flip { to, changes })
    }
}
