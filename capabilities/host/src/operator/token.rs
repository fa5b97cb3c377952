//! An operator session's token.

use sha2::{Digest, Sha256};

use crate::environment::{NoRandomness, random};
use crate::hex;

/// Proof of a live operator session: 256 random bits. It has no `Debug` form and no `Display`: showing it is a decision.
#[derive(Clone)]
pub struct OperatorToken([u8; 32]);

impl OperatorToken {
    pub(super) fn random() -> Result<Self, NoRandomness> {
        random().map(Self)
    }

    /// From 64 hexadecimal digits; nothing else is a token.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text).map(Self)
    }

    /// 64 hexadecimal digits, to be handed to the person who logged in and to nobody else.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex::encode(&self.0)
    }

    /// What is stored in its place. A token is random, so a plain hash of it cannot be guessed, and comparing hashes tells
    /// nothing about a token.
    pub(super) fn stored(&self) -> String {
        hex::encode(&self.kept())
    }

    /// The same as bytes.
    pub(crate) fn kept(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }
}
