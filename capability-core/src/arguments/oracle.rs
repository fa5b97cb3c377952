//! A general validator as the measure of the check of our own, for tests and fuzzers.

use serde_json::Value;

use super::arena::{self, Arena};
use super::general::General;
use super::judge::Judge;
use super::parse;
use crate::contract::schema::check::{Kind, Mistake};
use crate::contract::schema::recursion;
use crate::contract::{SchemaFault, Schemas};

/// One capability's documents, judged both ways.
pub struct Oracle {
    arguments: Both,
    result: Both,
}

struct Both {
    judge: Judge,
    general: General,
}

impl Oracle {
    /// Compiles both documents both ways.
    ///
    /// # Errors
    /// [`SchemaFault`] when one of them cannot be enforced.
    pub fn of(schemas: &Schemas) -> Result<Self, SchemaFault> {
        Ok(Self { arguments: Both::of(schemas.arguments())?, result: Both::of(schemas.result())? })
    }

    /// True when a keyword of either document is left to the general validator.
    #[must_use]
    pub const fn is_needed(&self) -> bool {
        self.arguments.judge.is_general() || self.result.judge.is_general()
    }

    /// Arguments are accepted by both or by none, and refused for the same mistakes. None for a text that is refused
    /// before its schema is asked; otherwise whether they are accepted.
    ///
    /// # Panics
    /// When the two differ.
    #[must_use]
    pub fn hold_for_arguments(&self, raw: &[u8]) -> Option<bool> {
        let parsed = parse::parse(raw).ok()?;
        Some(self.arguments.hold(&parsed.value, arena::arguments(raw).as_ref()))
    }

    /// The same for a result.
    ///
    /// # Panics
    /// When the two differ.
    #[must_use]
    pub fn hold_for_result(&self, json: &str) -> Option<bool> {
        let value: Value = serde_json::from_str(json).ok()?;
        Some(self.result.hold(&value, arena::plain(json).as_ref()))
    }
}

impl core::fmt::Debug for Oracle {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Oracle").finish_non_exhaustive()
    }
}

impl Both {
    fn of(document: &Value) -> Result<Self, SchemaFault> {
        Ok(Self { judge: Judge::of(document)?, general: General::of(recursion::guarded(document)?)? })
    }

    fn hold(&self, value: &Value, arena: Option<&Arena<'_>>) -> bool {
        let (judge, general) = (&self.judge, &self.general);
        let accepted = general.accepts_tree(value, false);
        assert_eq!(judge.accepts_tree(value), accepted, "{value} by {}", judge.document);
        if let Some(arena) = arena {
            assert_eq!(judge.accepts(arena), accepted, "{value} in one piece by {}", judge.document);
            assert_eq!(general.accepts(arena), accepted, "{value} in one piece by {}", judge.document);
        }
        for exact in [false, true] {
            let ours = summary(&judge.mistakes(value, exact, usize::MAX), &judge.document);
            let theirs = summary(&general.mistakes(value, exact, usize::MAX), &judge.document);
            assert_eq!(ours, theirs, "{value} by {}, exact: {exact}", judge.document);
            let accepts = if exact { judge.accepts_exactly(value) } else { accepted };
            assert_eq!(ours.is_empty(), accepts, "{value} by {}", judge.document);
            let first = judge.mistakes(value, exact, 1);
            assert!(
                first.len() <= 1 && summary(&first, &judge.document).iter().all(|first| ours.contains(first)),
                "{value}"
            );
        }
        accepted
    }
}

/// Mistakes with all that is told of them, in an order of their own: a set.
///
/// The general validator does not name the members of an object that declares none; ours does.
fn summary(mistakes: &[Mistake<'_>], document: &Value) -> Vec<String> {
    let mut lines: Vec<String> = mistakes
        .iter()
        .map(|Mistake { kind, schema, place, value }| match (kind, schema.strip_suffix("/additionalProperties")) {
            (Kind::AnyOf(branches) | Kind::OneOfNone(branches), _) => {
                let branches: Vec<Vec<String>> = branches.iter().map(|branch| summary(branch, document)).collect();
                format!("{} {schema} {place} {value} {branches:?}", kind.keyword())
            }
            (Kind::PropertyNames(inner), _) => {
                format!("propertyNames {schema} {place} {value} {:?}", summary(&[(**inner).clone()], document))
            }
            (Kind::AdditionalProperties(_) | Kind::Nothing, Some(around)) if !declares(document.pointer(around)) => {
                format!("no members {schema} {place}")
            }
            (other, _) => format!("{other:?} {schema} {place} {value}"),
        })
        .collect();
    lines.sort_unstable();
    lines
}

fn declares(schema: Option<&Value>) -> bool {
    let says = |keyword: &str| schema.and_then(|schema| schema.get(keyword)).is_some();
    says("properties") || says("patternProperties")
}
