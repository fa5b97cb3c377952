//! What an approver sees beyond the arguments.

use serde::{Deserialize, Serialize};

/// Made by an author's `preview` before anybody is asked: a text for the approver, such as a diff, and the hashes of what
/// it rests on. Both enter the digest, so that an approval answers for what was shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// Shown as plain text, never as markup.
    pub text: String,
    /// SHA-256 of everything that must still be so when the call runs.
    pub rests_on: Vec<[u8; 32]>,
}

impl core::fmt::Debug for Preview {
    /// Without its text and hashes.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Preview({} bytes, resting on {})", self.text.len(), self.rests_on.len())
    }
}

impl Preview {
    /// Whether a person can read it and a store hold it: text and hashes are within their caps.
    #[must_use]
    pub fn is_within_bounds(&self) -> bool {
        self.text.len() <= MAX_PREVIEW_BYTES && self.rests_on.len() <= MAX_RESTS_ON
    }
}

/// The longest preview text, in bytes.
pub const MAX_PREVIEW_BYTES: usize = 256 * 1024;
/// The most hashes that a preview rests on.
pub const MAX_RESTS_ON: usize = 4096;
