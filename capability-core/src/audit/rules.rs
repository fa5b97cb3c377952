//! What the log holds of rules: their ids, and nothing that they say or were asked about.

use serde::Serialize;

use crate::policy::{Decision, Fate, PolicyRevision, RuleId, RulesSaid, SourceKind};

/// The most rules that one record names.
const MAX_NAMED: usize = 64;

/// A rule by its source and id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedRule {
    source: SourceKind,
    id: RuleId,
}

impl Serialize for NamedRule {
    /// The id, with the source before it when that is not the operator's.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.source {
            SourceKind::Operator => serializer.serialize_str(self.id.as_str()),
            source => serializer.collect_str(&format_args!("{}:{}", source.as_str(), self.id)),
        }
    }
}

/// What rules had to do with a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RulesAsked {
    /// Which policy was asked: the beginning of its revision.
    policy: PolicyRevision,
    /// The rules that were looked at: what matched first, in the order they are written; at most 64.
    considered: Vec<NamedRule>,
    /// The rules whose effect is the verdict, of those named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deciding: Vec<NamedRule>,
    /// How many more were looked at.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl RulesAsked {
    pub(crate) fn of(decision: &Decision, rules: &RulesSaid) -> Self {
        let named = |at| rules.policy().rule(at).map(|(source, rule)| NamedRule { source, id: rule.id.clone() });
        let rank = |fate: Fate| match fate {
            Fate::Decides => 0,
            Fate::Outweighed | Fate::Displaced { .. } => 1,
            Fate::Excepted { .. } | Fate::Missed { .. } => 2,
        };
        let mut looked_at: Vec<_> = rules.considered().iter().collect();
        looked_at.sort_by_key(|considered| rank(considered.fate));
        let considered: Vec<_> =
            looked_at.iter().take(MAX_NAMED).filter_map(|considered| named(considered.rule)).collect();
        let deciding = decision.deciding_rules().take(MAX_NAMED).filter_map(named).collect();
        let more = (rules.considered().len() + rules.omitted()).saturating_sub(considered.len());
        Self { policy: rules.policy().revision(), considered, deciding, more }
    }
}
