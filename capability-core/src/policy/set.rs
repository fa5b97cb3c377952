//! A policy: rules from several sources, compiled once and then only read.

use core::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use hashbrown::HashSet;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::index::Index;
use super::mistake::Mistake;
use super::rule::{Rule, RuleEffect, RuleId};
use super::selector::{CapabilityPattern, Selector};

/// The most rules an operator's source has.
pub const MAX_RULES: usize = 20_000;
/// The most rules that a workspace or a package brings.
pub const MAX_BROUGHT_RULES: usize = 256;
/// The most time zones in one policy.
const MAX_ZONES: usize = 256;

/// Where rules come from. Each source speaks for itself: none displaces a rule of another, and the strictest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The operator's own file.
    Operator,
    /// Rules that lie in a workspace: they may only raise.
    Workspace,
    /// Rules that a package brings along: they may only raise.
    Package,
}

impl SourceKind {
    /// All of them, in the order they are reported.
    pub const ALL: [Self; 3] = [Self::Operator, Self::Workspace, Self::Package];

    /// The word used in explanations and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Workspace => "workspace",
            Self::Package => "package",
        }
    }

    const fn max_rules(self) -> usize {
        match self {
            Self::Operator => MAX_RULES,
            Self::Workspace | Self::Package => MAX_BROUGHT_RULES,
        }
    }
}

/// The rules of one source, with the digest of the text they were read from.
#[derive(Debug, Clone)]
pub struct Source {
    kind: SourceKind,
    digest: [u8; 32],
    rules: Vec<Rule>,
}

impl Source {
    /// These rules, read from this text.
    #[must_use]
    pub fn new(kind: SourceKind, text: &[u8], rules: Vec<Rule>) -> Self {
        Self { kind, digest: Sha256::digest(text).into(), rules }
    }

    /// What kind of source it is.
    #[must_use]
    pub const fn kind(&self) -> SourceKind {
        self.kind
    }

    /// Its rules, in the order they were written, which decides nothing.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

/// Which policy: SHA-256 over the kinds and texts of its sources.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyRevision([u8; 32]);

impl PolicyRevision {
    fn of(sources: &[Source]) -> Self {
        let mut hash = Sha256::new();
        for source in sources {
            hash.update([source.kind as u8]);
            hash.update(source.digest);
        }
        Self(hash.finalize().into())
    }

    /// The revision of a policy of one operator's source with this text.
    #[must_use]
    pub fn of_operator_text(text: &[u8]) -> Self {
        Self::of(&[Source::new(SourceKind::Operator, text, Vec::new())])
    }

    /// All 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PolicyRevision {
    /// The first 16 of 64 hexadecimal digits: enough to tell the revisions of one host apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PolicyRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for PolicyRevision {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Looks a time zone up by the name that the IANA database gives it.
pub type Zones<'a> = &'a dyn Fn(&str) -> Option<TimeZone>;

/// A selector whose window knows its clocks.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) selector: Selector,
    /// Its window's place among the policy's zones.
    pub(super) zone: Option<usize>,
}

/// A rule that can be judged.
#[derive(Debug, Clone)]
pub(super) struct CompiledRule {
    pub(super) rule: Rule,
    pub(super) zone: Option<usize>,
    pub(super) except: Vec<Compiled>,
}

/// One source that can be judged.
#[derive(Debug)]
pub(super) struct CompiledSource {
    pub(super) kind: SourceKind,
    digest: [u8; 32],
    pub(super) rules: Vec<CompiledRule>,
    pub(super) index: Index,
}

/// Where a rule stands in its policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleRef {
    pub(super) source: u16,
    pub(super) rule: u32,
}

/// Why rules make no policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyMistake {
    /// Which source, counted from 0.
    pub source: usize,
    /// Which rule of it, counted from 0; absent when the source as a whole is at fault.
    pub rule: Option<usize>,
    /// What is wrong and what would be right.
    pub mistake: Mistake,
}

impl fmt::Display for PolicyMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mistake.fmt(f)
    }
}

impl core::error::Error for PolicyMistake {}

/// Rules that are in force together: compiled, immutable, with a revision.
#[derive(Debug)]
pub struct Policy {
    pub(super) sources: Vec<CompiledSource>,
    pub(super) zones: Vec<TimeZone>,
    revision: PolicyRevision,
}

impl Default for Policy {
    /// No rules.
    fn default() -> Self {
        Self { sources: Vec::new(), zones: Vec::new(), revision: PolicyRevision::of(&[]) }
    }
}

impl Policy {
    /// Compiles sources: ids are unique within each, a source that may only raise allows nothing, zones exist.
    ///
    /// # Errors
    /// [`PolicyMistake`] names the first source and rule that stand against it.
    pub fn compile(sources: Vec<Source>, zones: Zones<'_>) -> Result<Self, PolicyMistake> {
        let revision = PolicyRevision::of(&sources);
        let mut known: Vec<(Box<str>, TimeZone)> = Vec::new();
        let mut compiled = Vec::new();
        for (at, Source { kind, digest, rules }) in sources.into_iter().enumerate() {
            let wrong =
                |rule, what: String, help: &str| PolicyMistake { source: at, rule, mistake: Mistake::new(what, help) };
            if rules.len() > kind.max_rules() {
                let (have, most) = (rules.len(), kind.max_rules());
                return Err(wrong(None, format!("there are {have} rules: at most {most} are read"), FEWER));
            }
            let mut ids: HashSet<RuleId> = HashSet::with_capacity(rules.len());
            let mut own = Vec::with_capacity(rules.len());
            for (number, rule) in rules.into_iter().enumerate() {
                let id = &rule.id;
                if !ids.insert(id.clone()) {
                    return Err(wrong(
                        Some(number),
                        format!("there are two rules `{id}`"),
                        "give each an id of its own",
                    ));
                }
                if kind != SourceKind::Operator && rule.effect == RuleEffect::Allow {
                    let what = format!("rule `{id}` allows, and a {}'s rules may only raise", kind.as_str());
                    return Err(wrong(Some(number), what, "write `ask`, `ask_fresh` or `deny`, or leave the rule out"));
                }
                let mut zone_of = |selector: &Selector| match &selector.when {
                    None => Ok(None),
                    Some(window) => zone(window.zone().as_str(), &mut known, zones)
                        .map(Some)
                        .map_err(|mistake| PolicyMistake { source: at, rule: Some(number), mistake }),
                };
                let zone = zone_of(&rule.selector)?;
                let except = rule
                    .except
                    .iter()
                    .map(|selector| Ok(Compiled { zone: zone_of(selector)?, selector: selector.clone() }))
                    .collect::<Result<_, _>>()?;
                own.push(CompiledRule { rule, zone, except });
            }
            let index = Index::of(&own);
            compiled.push(CompiledSource { kind, digest, rules: own, index });
        }
        let zones = known.into_iter().map(|(_, zone)| zone).collect();
        Ok(Self { sources: compiled, zones, revision })
    }

    /// The same rules with further sources behind them: what packages require beside what an operator wrote.
    ///
    /// # Errors
    /// As [`compile`](Self::compile); sources are counted from the first of this policy.
    pub fn joined(&self, further: Vec<Source>, zones: Zones<'_>) -> Result<Self, PolicyMistake> {
        let again = |held: &CompiledSource| {
            let rules = held.rules.iter().map(|compiled| compiled.rule.clone()).collect();
            Source { kind: held.kind, digest: held.digest, rules }
        };
        Self::compile(self.sources.iter().map(again).chain(further).collect(), zones)
    }

    /// Which policy this is.
    #[must_use]
    pub const fn revision(&self) -> PolicyRevision {
        self.revision
    }

    /// Whether there is no rule at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.iter().all(|source| source.rules.is_empty())
    }

    /// Whether any rule or exception asks for the time.
    #[must_use]
    pub const fn asks_for_the_time(&self) -> bool {
        !self.zones.is_empty()
    }

    /// Whether any rule that may be about this capability, or an exception of one, asks for more than its name, who asks and
    /// when: for what a call names.
    pub(crate) fn looks_at_arguments(&self, name: &str) -> bool {
        let about = |selector: &Selector| match &selector.capability {
            CapabilityPattern::Scoped { name: own, .. } => **own == *name,
            pattern => pattern.matches(name, None),
        };
        let looks = |selector: &Selector| {
            selector.target.is_some() || matches!(selector.capability, CapabilityPattern::Scoped { .. })
        };
        self.rules()
            .any(|(_, _, rule)| about(&rule.selector) && (looks(&rule.selector) || rule.except.iter().any(looks)))
    }

    /// Every rule with its source and its place.
    pub fn rules(&self) -> impl Iterator<Item = (RuleRef, SourceKind, &Rule)> {
        self.sources.iter().zip(0_u16..).flat_map(|(held, source)| {
            let numbered = held.rules.iter().zip(0_u32..);
            numbered.map(move |(compiled, rule)| (RuleRef { source, rule }, held.kind, &compiled.rule))
        })
    }

    /// The rule at a place of this policy, and its source's kind.
    #[must_use]
    pub fn rule(&self, at: RuleRef) -> Option<(SourceKind, &Rule)> {
        self.compiled(at).map(|(kind, compiled)| (kind, &compiled.rule))
    }

    pub(super) fn compiled(&self, at: RuleRef) -> Option<(SourceKind, &CompiledRule)> {
        let source = self.sources.get(usize::from(at.source))?;
        source.rules.get(usize::try_from(at.rule).ok()?).map(|compiled| (source.kind, compiled))
    }
}

const FEWER: &str = "say more with fewer: a rule may be about a family, a domain with all below it, or a folder";

/// The place of a zone among those that are known, which it joins when it is new.
fn zone(name: &str, known: &mut Vec<(Box<str>, TimeZone)>, zones: Zones<'_>) -> Result<usize, Mistake> {
    if let Some(at) = known.iter().position(|(listed, _)| **listed == *name) {
        return Ok(at);
    }
    if known.len() >= MAX_ZONES {
        return Err(Mistake::new(
            format!("there are more than {MAX_ZONES} time zones"),
            "write windows by the clocks of few places",
        ));
    }
    let found = zones(name).ok_or_else(|| {
        Mistake::new(
            format!("no time zone is called `{name}`"),
            "write a zone as the IANA database lists it, such as `Europe/Berlin`",
        )
    })?;
    known.push((name.into(), found));
    Ok(known.len() - 1)
}

/// Where the policy of this moment comes from. Asked at every call.
pub trait PolicySource: Send + Sync + 'static {
    /// What is in force now.
    fn current(&self) -> Arc<Policy>;
}

/// A policy in memory: without rules, until it is given some.
#[derive(Debug, Default)]
pub struct MemoryPolicy(RwLock<Arc<Policy>>);

impl MemoryPolicy {
    /// No rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// In force from the next call on.
    pub fn set(&self, policy: Policy) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }
}

impl PolicySource for MemoryPolicy {
    fn current(&self) -> Arc<Policy> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests;
