//! One call, with everything that had a say in it, in words.

use serde::{Deserialize, Serialize};

use super::{RuleName, Sketch};
use crate::code::Code;
use crate::policy::{
    Change, Considered, Contributor, Decision, Dimension, Fate, MaxGrant, Policy, RuleEffect, SourceKind, Verdict,
};

/// What one contributor said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who.
    pub contributor: Contributor,
    /// What.
    pub verdict: Verdict,
    /// Why.
    pub code: Code,
    /// Whether its word is the verdict.
    pub decides: bool,
}

/// What became of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which rule.
    pub rule: RuleName,
    /// What it says.
    pub effect: RuleEffect,
    /// Whether it matches the call.
    pub matches: bool,
    /// Whether its word is the verdict.
    pub decides: bool,
    /// What became of it, in words.
    pub fate: String,
}

/// What would have to be otherwise for less to be needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Otherwise {
    /// What would be needed then.
    pub to: Verdict,
    /// What would have to be otherwise, all of it, in words.
    pub changes: Vec<String>,
}

/// A decision in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The call.
    pub call: Sketch,
    /// What it takes.
    pub verdict: Verdict,
    /// Everybody who contributes, in their order.
    pub contributors: Vec<Said>,
    /// Every rule that was looked at, by source, those that match first.
    pub rules: Vec<Step>,
    /// How many more were looked at and do not match.
    pub omitted: usize,
    /// How far a standing grant may answer it, in words; absent where none can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The smallest change that would lower it; absent where nothing would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flip: Option<Otherwise>,
}

/// Puts a decision about a call into words.
#[must_use]
pub fn explain(call: Sketch, decision: &Decision) -> Explanation {
    let verdict = decision.verdict();
    let contributors = decision.contributions().iter().map(|said| Said {
        contributor: said.contributor,
        verdict: said.verdict,
        code: said.code,
        decides: said.verdict == verdict && verdict > Verdict::Allow,
    });
    let deciding: Vec<_> = decision.deciding_rules().collect();
    let rules = decision.rules();
    let mut steps: Vec<_> = rules
        .into_iter()
        .flat_map(|rules| rules.considered().iter().map(move |considered| (rules.policy(), considered)))
        .filter_map(|(policy, considered)| {
            let (_, rule) = policy.rule(considered.rule)?;
            Some(Step {
                rule: RuleName::of(policy, considered.rule)?,
                effect: rule.effect,
                matches: considered.fate.matches(),
                decides: deciding.contains(&considered.rule),
                fate: fate(policy, considered),
            })
        })
        .collect();
    steps.sort_by_key(|step| (step.rule.source, !step.matches, !step.decides));
    Explanation {
        call,
        verdict,
        contributors: contributors.collect(),
        rules: steps,
        omitted: rules.map_or(0, |rules| rules.omitted()),
        grant: (verdict == Verdict::Ask).then(|| grant(decision.grant_limit())),
        flip: flip(decision),
    }
}

fn fate(policy: &Policy, considered: &Considered) -> String {
    match considered.fate {
        Fate::Decides => "matches, and is its source's word".to_owned(),
        Fate::Outweighed => "matches; something stricter of its source counts".to_owned(),
        Fate::Displaced { by } => {
            let by = RuleName::of(policy, by).map_or_else(|| "another rule".to_owned(), |name| name.to_string());
            format!("matches; {by}, which is narrower, takes its place")
        }
        Fate::Missed { by } => format!("does not match: {}", missed(by)),
        Fate::Excepted { exception } => format!("its exception {} leaves this call out", exception + 1),
    }
}

const fn missed(by: Dimension) -> &'static str {
    match by {
        Dimension::Subject => "it is about another subject",
        Dimension::Capability => "it is about another capability or scope",
        Dimension::Action => "it is about another kind of action",
        Dimension::Target => "it is about another target",
        Dimension::When => "it is about another time",
        Dimension::Origin => "it is about another origin",
    }
}

fn grant(limit: Option<MaxGrant>) -> String {
    match limit {
        None => "a standing grant may answer it, where an operator gave one".to_owned(),
        Some(MaxGrant::Never) => "no standing grant answers it: a rule says so".to_owned(),
        Some(MaxGrant::Within { duration, uses }) => {
            let long = duration.map(|duration| format!("{} s", duration.as_secs()));
            let often = uses.map(|uses| format!("{uses} times"));
            let most = long.into_iter().chain(often).collect::<Vec<_>>().join(" and ");
            format!("a standing grant of at most {most} may answer it")
        }
    }
}

fn flip(decision: &Decision) -> Option<Otherwise> {
    let flip = decision.flip()?;
    let policy = decision.rules().map(|rules| rules.policy());
    let changes = flip.changes.iter().map(|change| change_in_words(policy.map(AsRef::as_ref), change)).collect();
    Some(Otherwise { to: flip.to, changes })
}

fn change_in_words(policy: Option<&Policy>, change: &Change) -> String {
    match change {
        Change::Declared => "the subject's manifest declares the capability".to_owned(),
        Change::LiveMode => "the session is live".to_owned(),
        Change::SwitchedOn => "the family is switched on".to_owned(),
        Change::Bound => "the host is given what the capability needs".to_owned(),
        Change::WithoutRule { rule } => {
            let name = policy.and_then(|policy| RuleName::of(policy, *rule));
            let name = name.map_or_else(|| "a rule".to_owned(), |name| format!("rule {name}"));
            format!("{name} does not apply")
        }
        Change::NarrowerRule => "an operator's rule that is narrower than the capability's own default".to_owned(),
        Change::BehindIt => "whoever the session acts for may do as much".to_owned(),
        Change::Repaired => "what failed works again".to_owned(),
    }
}

impl core::fmt::Display for Explanation {
    /// For people, on 80 columns or little more.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        writeln!(f, "{}\n\n{}", self.call, self.verdict)?;
        for said in self.contributors.iter().filter(|said| said.verdict > Verdict::Allow) {
            let mark = if said.decides { "*" } else { " " };
            writeln!(f, "{mark} {:<9} {}", said.verdict.as_str(), said.code.message())?;
        }
        let mut source = None;
        for step in &self.rules {
            if source != Some(step.rule.source) {
                source = Some(step.rule.source);
                writeln!(f, "\n{}", heading(step.rule.source))?;
            }
            let mark = if step.decides { "*" } else { " " };
            writeln!(f, "{mark} {:<9} {}: {}", step.effect.as_str(), step.rule.id, step.fate)?;
            if let Some(reason) = step.rule.reason.as_ref().filter(|_| step.matches) {
                writeln!(f, "            \u{201c}{reason}\u{201d}")?;
            }
        }
        if self.omitted > 0 {
            writeln!(f, "  and {} more that do not match", self.omitted)?;
        }
        if let Some(grant) = &self.grant {
            writeln!(f, "\n{grant}")?;
        }
        match &self.flip {
            Some(flip) => writeln!(f, "\n{} if {}", flip.to, flip.changes.join(", and ")),
            None if self.verdict > Verdict::Allow => writeln!(f, "\nno setting lowers this"),
            None => Ok(()),
        }
    }
}

const fn heading(source: SourceKind) -> &'static str {
    match source {
        SourceKind::Operator => "rules of the operator",
        SourceKind::Workspace => "rules of a workspace",
        SourceKind::Package => "rules of a package",
    }
}
