//! What judges values by a document: the check of our own, or a general validator where that does not know a keyword.

use serde_json::Value;

use super::arena::Arena;
#[cfg(feature = "jsonschema")]
use super::general::General;
use crate::contract::SchemaFault;
use crate::contract::schema::check::{Check, Mistake};
use crate::contract::schema::recursion;

/// A document and what judges by it.
pub(super) struct Judge {
    /// As it is exported, to tell what would be right.
    pub(super) document: Value,
    by: By,
}

enum By {
    Own(Check),
    #[cfg(feature = "jsonschema")]
    General(Box<General>),
}

impl Judge {
    /// Compiles `document`.
    ///
    /// # Errors
    /// [`SchemaFault`] for a document that cannot be enforced.
    pub(super) fn of(document: &Value) -> Result<Self, SchemaFault> {
        let guarded = recursion::guarded(document)?;
        let by = match Check::of(&guarded) {
            Ok(check) => By::Own(check),
            #[cfg(feature = "jsonschema")]
            Err(_) => By::General(Box::new(General::of(guarded)?)),
            #[cfg(not(feature = "jsonschema"))]
            Err(unplanned) => return Err(unplanned.into_fault()),
        };
        Ok(Self { document: document.clone(), by })
    }

    /// True for a value in one piece of memory that the document accepts.
    #[inline]
    pub(super) fn accepts(&self, arena: &Arena<'_>) -> bool {
        match &self.by {
            By::Own(check) => check.accepts(arena.view()),
            #[cfg(feature = "jsonschema")]
            By::General(general) => general.accepts(arena),
        }
    }

    /// The same for a tree.
    pub(super) fn accepts_tree(&self, value: &Value) -> bool {
        match &self.by {
            By::Own(check) => check.accepts(value),
            #[cfg(feature = "jsonschema")]
            By::General(general) => general.accepts_tree(value, false),
        }
    }

    /// The same where a double is no integer.
    pub(super) fn accepts_exactly(&self, value: &Value) -> bool {
        match &self.by {
            By::Own(check) => check.accepts_exactly(value),
            #[cfg(feature = "jsonschema")]
            By::General(general) => general.accepts_tree(value, true),
        }
    }

    /// What is wrong with a value that is refused, at most `limit` of it; with `exact`, where a double is no integer.
    pub(super) fn mistakes<'a>(&'a self, value: &'a Value, exact: bool, limit: usize) -> Vec<Mistake<'a>> {
        match &self.by {
            By::Own(check) => check.mistakes(value, exact, limit),
            #[cfg(feature = "jsonschema")]
            By::General(general) => general.mistakes(value, exact, limit),
        }
    }

    /// Whether a general validator is needed.
    #[cfg(feature = "jsonschema")]
    pub(super) const fn is_general(&self) -> bool {
        matches!(self.by, By::General(_))
    }
}

impl core::fmt::Debug for Judge {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Judge").field("document", &self.document).finish_non_exhaustive()
    }
}
