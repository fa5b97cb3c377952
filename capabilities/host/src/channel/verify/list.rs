//! Who is on a list.

use std::collections::BTreeSet;

use super::super::Refused;

/// Those whom an operator named. There is no list of nobody in particular: anyone is written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// Whoever the channel's own proof lets through.
    Anyone,
    /// These and nobody else, each by its exact id.
    Only(BTreeSet<String>),
}

impl Listed {
    /// Whether an id is on it, letter by letter.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        match self {
            Self::Anyone => true,
            Self::Only(ids) => ids.contains(id),
        }
    }

    pub(super) fn lets(&self, id: &str, detail: &'static str) -> Result<(), Refused> {
        if self.has(id) { Ok(()) } else { Err(Refused::not_listed(detail)) }
    }
}
