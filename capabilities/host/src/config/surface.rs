//! Which tools a model always sees, and how long results can be had again.

use core::time::Duration;
use std::collections::BTreeSet;

use serde::Deserialize;

use super::Span;
use super::bindings::Mistake;

/// `[surface]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SurfaceTable {
    /// Tools that are always shown, whatever that costs, by dotted name or by the name that a model calls them.
    pub pinned: BTreeSet<String>,
}

/// `[results]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResultsTable {
    /// How long a result can be had again by its own session, at most a day; `0s` for not at all.
    pub keep: Span,
}

impl Default for ResultsTable {
    /// An hour.
    fn default() -> Self {
        Self { keep: Span(Duration::from_secs(60 * 60)) }
    }
}

/// The longest that results are kept.
const LONGEST_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

impl ResultsTable {
    pub(super) fn check(self) -> Result<(), Mistake> {
        if self.keep.0 <= LONGEST_KEPT {
            return Ok(());
        }
        Err(Mistake {
            table: "results".to_owned(),
            key: "keep",
            what: "`keep` is more than a day".to_owned(),
            help: "write a span such as `1h`, or `0s`: nothing is kept then",
        })
    }
}
