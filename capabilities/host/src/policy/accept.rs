//! Rules that wait for an operator, since they let through more than those in force.

use std::path::Path;
use std::sync::Arc;

use capability_core::policy::Policy;
use capability_core::policy::analysis::{Comparison, Entry, Relation, compare};

use super::file::Reader;
use super::{PolicyError, load};

/// Rules that an operator has to accept before they count.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// What they would be.
    pub(crate) policy: Arc<Policy>,
    /// What is strange about them.
    pub(crate) strange: Vec<String>,
    /// Their text.
    pub(crate) bytes: Vec<u8>,
    /// What they are to those in force.
    pub(crate) comparison: Comparison,
}

/// In force where there were rules that this build cannot read any more: with what they said unknown, nothing is let through
/// until an operator accepts others.
const NOTHING: &str = "[[rule]]\nid = \"rules-in-force-are-unreadable\"\neffect = \"deny\"\nreason = \"the rules \
that were in force cannot be read by this build; an operator accepts others\"\n";

impl Waiting {
    /// The whole revision, in hexadecimal: what an operator accepts.
    pub(crate) fn digest(&self) -> String {
        digest(&self.policy)
    }

    /// Whether it is the same text.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.policy.revision() == other.policy.revision()
    }

    /// Why they are not in force, and what to do.
    pub(super) fn problem(&self, path: &Path) -> String {
        let path = path.display();
        let what = match (self.comparison.relation, self.comparison.wider.first()) {
            (Relation::NotDecided, _) | (_, None) => {
                format!("`{path}` tells more cases apart than can be compared with what is in force")
            }
            (_, Some(first)) => format!(
                "`{path}` lets through more than what is in force: {} was {}, and would be {}",
                first.call, first.before, first.after
            ),
        };
        format!(
            "{what}\nhelp: an operator accepts it with `capability policy accept`; see all of it with `capability policy compare`"
        )
    }
}

/// A policy's whole revision, in hexadecimal.
pub(crate) fn digest(policy: &Policy) -> String {
    policy.revision().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Reader {
    /// What was in force, by the copy of its text.
    pub(super) fn before(&self, copy: Option<&[u8]>) -> Result<Policy, PolicyError> {
        let read = |bytes: &[u8]| load(&self.places.copy, bytes, &self.registered()).map(|loaded| loaded.policy);
        match copy.map(read) {
            None => Ok(Policy::default()),
            Some(Ok(policy)) => Ok(policy),
            Some(Err(error)) => {
                tracing::warn!("{error}\nnothing is let through until an operator accepts other rules");
                read(NOTHING.as_bytes())
            }
        }
    }

    /// What new rules are to those in force.
    pub(super) fn compared(&self, old: &Arc<Policy>, new: &Arc<Policy>) -> Comparison {
        let entries: Vec<_> = self.entries.iter().copied().map(Entry::alone).collect();
        compare(old, new, &entries, self.environment.now())
    }
}
