//! What somebody asks for.

use super::Refusal;
use crate::approval::Claims;
use crate::surface::SelectionDigest;

/// An untrusted request: an exact name and version, argument bytes as they came, and two bounded claims.
///
/// Nothing in it says who asks or whether it was confirmed; there is no field for either.
#[derive(Clone)]
pub struct Proposal {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) arguments: Vec<u8>,
    pub(crate) claims: Claims,
    /// The definition that was selected, when one was.
    pub(crate) selected: Option<SelectionDigest>,
    /// Why it is refused at resolve, whatever it names: what leads to the executor only to be refused and recorded.
    pub(crate) refused: Option<Box<Refusal>>,
}

impl Proposal {
    /// A request for exactly this name and version with these bytes, which are looked at from the validate stage on.
    #[must_use]
    pub fn new(name: impl Into<String>, version: u32, arguments: impl Into<Vec<u8>>) -> Self {
        let (name, arguments, claims) = (name.into(), arguments.into(), Claims::default());
        Self { name, version, arguments, claims, selected: None, refused: None }
    }

    /// One that is refused at resolve for this reason: it goes on record as every attempt does, and never runs.
    pub(crate) fn refused(mut self, refusal: Refusal) -> Self {
        self.refused = Some(Box::new(refusal));
        self
    }

    /// Of that very definition of the tool and of no other: resolve refuses it once the tool is another one.
    #[must_use]
    pub const fn selected(mut self, digest: SelectionDigest) -> Self {
        self.selected = Some(digest);
        self
    }

    /// With what the proposer says about it.
    #[must_use]
    pub fn with_claims(mut self, claims: Claims) -> Self {
        self.claims = claims;
        self
    }
}

impl core::fmt::Debug for Proposal {
    /// Without a word of it: even the name is only what a caller wrote.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Proposal({} bytes)", self.arguments.len())
    }
}
