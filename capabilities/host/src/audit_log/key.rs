//! The key that signs checkpoints, and its public half, in the text forms that tools for signed notes read.

use std::str::FromStr;

use base64ct::{Base64, Encoding};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::{Digest, Sha256};

use crate::environment::{NoRandomness, random};
use crate::hex;

/// The one kind of signature: Ed25519 over the note's text.
const ED25519_KIND: u8 = 1;
const NAME: &str = "capability-audit/";
const PRIVATE: &str = "PRIVATE+KEY+";

/// The key of one log. It is made together with the log and never signs for another one, so no two logs share an origin.
pub(super) struct LogKey {
    pair: Ed25519KeyPair,
    seed: [u8; 32],
    verifier: VerifierKey,
}

impl LogKey {
    /// A fresh key under a fresh name.
    pub(super) fn generate() -> Result<Self, NoRandomness> {
        let (name, seed) = (random::<8>()?, random::<32>()?);
        Self::new(format!("{NAME}{}", hex::encode(&name)), seed).ok_or(NoRandomness)
    }

    fn new(name: String, seed: [u8; 32]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).ok()?;
        let public = pair.public_key().as_ref().try_into().ok()?;
        Some(Self { pair, seed, verifier: VerifierKey { name, public } })
    }

    /// What the key file holds: one line.
    pub(super) fn to_text(&self) -> String {
        let bytes = [&[ED25519_KIND], self.seed.as_slice()].concat();
        let VerifierKey { name, .. } = &self.verifier;
        format!("{PRIVATE}{name}+{}+{}\n", hex::encode(&self.verifier.id()), Base64::encode_string(&bytes))
    }

    /// Exactly what [`LogKey::to_text`] writes, or nothing.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(bytes).ok()?;
        let (name, seed) = parts(text.strip_prefix(PRIVATE)?.strip_suffix('\n')?)?;
        let key = Self::new(name, seed)?;
        (key.to_text() == text).then_some(key)
    }

    pub(super) const fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    pub(super) fn sign(&self, text: &str) -> Vec<u8> {
        self.pair.sign(text.as_bytes()).as_ref().to_vec()
    }
}

/// The public half of a log's key: whoever keeps it elsewhere can tell whether a checkpoint is the log's own. Its text is
/// what tools for signed notes call a verifier key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    public: [u8; 32],
}

impl VerifierKey {
    /// The log's origin, which is the key's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes of a hash over name, kind and key.
    pub(super) fn id(&self) -> [u8; 4] {
        let mut hasher = Sha256::new();
        hasher.update(self.name.as_bytes());
        hasher.update([b'\n', ED25519_KIND]);
        hasher.update(self.public);
        let hash: [u8; 32] = hasher.finalize().into();
        let [a, b, c, d, ..] = hash;
        [a, b, c, d]
    }

    pub(super) fn verify(&self, text: &str, signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.public).verify(text.as_bytes(), signature).is_ok()
    }
}

impl core::fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let bytes = [&[ED25519_KIND], self.public.as_slice()].concat();
        write!(f, "{}+{}+{}", self.name, hex::encode(&self.id()), Base64::encode_string(&bytes))
    }
}

impl FromStr for VerifierKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, public) = parts(text).ok_or("a verifier key is a name, a number and a key, joined by `+`")?;
        let key = Self { name, public };
        if key.to_string() == text { Ok(key) } else { Err("the number of the verifier key is not that of its key") }
    }
}

/// Name and 32 bytes of `name+number+base64`. The number follows from the rest and is compared by the callers.
fn parts(text: &str) -> Option<(String, [u8; 32])> {
    let (name, rest) = text.split_once('+')?;
    let (_, key) = rest.split_once('+')?;
    let bytes = Base64::decode_vec(key).ok()?;
    let (kind, key) = bytes.split_first()?;
    let plain = name.starts_with(NAME) && name.bytes().all(|byte| byte.is_ascii_graphic());
    (*kind == ED25519_KIND && plain).then_some((name.to_owned(), key.try_into().ok()?))
}

impl core::fmt::Debug for LogKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "LogKey({})", self.verifier.name)
    }
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64, Encoding};

    use super::VerifierKey;

    /// The example in the documentation of the tools that the form comes from.
    #[test]
    fn a_known_key_verifies_its_known_note() {
        let bytes = Base64::decode_vec("ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW").unwrap();
        let key = VerifierKey { name: "PeterNeumann".to_owned(), public: bytes[1..].try_into().unwrap() };
        assert_eq!(key.id(), [0xc7, 0x4f, 0x20, 0xa3]);
        let text =
            "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
        let signature = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=";
        let signature = Base64::decode_vec(signature).unwrap();
        assert_eq!(signature[..4], key.id());
        assert!(key.verify(text, &signature[4..]) && !key.verify(&text.replace("you", "we"), &signature[4..]));
    }
}
