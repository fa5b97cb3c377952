//! What an approval must match: a keyed hash over exactly what would execute.

use core::num::NonZeroU32;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::contract::TargetKind;
use crate::preview::Preview;
use crate::session::SessionIdentity;

/// The installation's key. Without it a digest of a short query cannot be guessed. It has no text form.
#[derive(Clone)]
pub struct DigestKey([u8; 32]);

impl DigestKey {
    /// From 32 unpredictable bytes that the host keeps.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl core::fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("DigestKey")
    }
}

/// The digest of one invocation. Stored beside what is pending; never in the audit, hence no text form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InvocationDigest([u8; 32]);

impl InvocationDigest {
    /// As a store gives it back.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// For a store to keep.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl core::fmt::Debug for InvocationDigest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("InvocationDigest")
    }
}

/// Everything that an approval binds to.
pub(crate) struct DigestInput<'a> {
    pub(crate) capability: &'a str,
    pub(crate) version: NonZeroU32,
    pub(crate) schema: &'a [u8; 32],
    /// The normalised bytes that the function is parsed from.
    pub(crate) arguments: &'a [u8],
    pub(crate) target: Option<(TargetKind, &'a str)>,
    pub(crate) identity: &'a SessionIdentity,
    pub(crate) provider: &'a str,
    pub(crate) definition: Option<&'a [u8; 32]>,
    pub(crate) preview: Option<&'a Preview>,
}

impl DigestInput<'_> {
    /// HMAC-SHA-256 over a length-prefixed encoding: no two inputs share an encoding.
    pub(crate) fn digest(&self, key: &DigestKey) -> InvocationDigest {
        // HMAC pads a shorter key with zeros to its block; writing the block leaves no fallible constructor.
        let mut block = [0; 64];
        block.first_chunk_mut::<32>().into_iter().for_each(|half| *half = key.0);
        let mut encoding = Encoding(Hmac::<Sha256>::new(&block.into()));
        encoding.field(b"capability invocation digest, version 1");
        encoding.field(self.capability.as_bytes());
        encoding.field(&self.version.get().to_be_bytes());
        encoding.field(self.schema);
        encoding.field(self.arguments);
        encoding.optional(self.target.map(|(kind, _)| kind.as_str().as_bytes()));
        encoding.optional(self.target.map(|(_, text)| text.as_bytes()));
        encoding.field(self.identity.subject.as_str().as_bytes());
        encoding.field(self.identity.id.as_bytes());
        encoding.field(self.provider.as_bytes());
        encoding.optional(self.definition.map(<[u8; 32]>::as_slice));
        encoding.optional(self.preview.map(|preview| preview.text.as_bytes()));
        for rests_on in self.preview.iter().flat_map(|preview| &preview.rests_on) {
            encoding.field(rests_on);
        }
        InvocationDigest(encoding.0.finalize().into_bytes().into())
    }
}

struct Encoding(Hmac<Sha256>);

impl Encoding {
    fn field(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    /// Absent and empty differ.
    fn optional(&mut self, bytes: Option<&[u8]>) {
        self.0.update(&[u8::from(bytes.is_some())]);
        if let Some(bytes) = bytes {
            self.field(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DigestInput, DigestKey};
    use crate::contract::TargetKind;
    use crate::preview::Preview;
    use crate::session::{Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};

    fn identity(subject: &str, session: u8, turn: u64) -> SessionIdentity {
        SessionIdentity {
            id: SessionId::from_bytes([session; 16]),
            subject: subject.parse::<Subject>().unwrap(),
            mode: Mode::Live,
            origin: Origin::Model,
            turn: TurnId(turn),
        }
    }

    /// Every field moves the digest, and moving text from one field to the next is not the same.
    #[test]
    fn every_field_counts() {
        let (key, alice, bob) = (DigestKey::new([7; 32]), identity("alice", 1, 1), identity("bob", 1, 1));
        let later = identity("alice", 2, 1);
        let preview = |text: &str, hash: u8| Preview { text: text.into(), rests_on: vec![[hash; 32]] };
        let previews = [preview("a", 1), preview("b", 1), preview("a", 2)];
        let base = || DigestInput {
            capability: "web.search",
            version: core::num::NonZeroU32::MIN,
            schema: &[1; 32],
            arguments: br#"{"id":9007199254740992}"#,
            target: Some((TargetKind::Url, "https://a.example/")),
            identity: &alice,
            provider: "compiled",
            definition: None,
            preview: None,
        };
        let mut digests = vec![
            base(),
            DigestInput { capability: "web.fetch", ..base() },
            DigestInput { version: core::num::NonZeroU32::new(2).unwrap(), ..base() },
            DigestInput { schema: &[2; 32], ..base() },
            DigestInput { arguments: br#"{"id":9007199254740993}"#, ..base() },
            DigestInput { arguments: b"", ..base() },
            DigestInput { target: Some((TargetKind::Host, "https://a.example/")), ..base() },
            DigestInput { target: Some((TargetKind::Url, "https://a.example")), ..base() },
            DigestInput { target: None, ..base() },
            DigestInput { identity: &bob, ..base() },
            DigestInput { identity: &later, ..base() },
            DigestInput { provider: "edge", ..base() },
            DigestInput { definition: Some(&[0; 32]), ..base() },
        ];
        digests.extend(previews.iter().map(|preview| DigestInput { preview: Some(preview), ..base() }));
        let bytes: std::collections::BTreeSet<_> = digests.iter().map(|input| *input.digest(&key).as_bytes()).collect();
        assert_eq!(bytes.len(), digests.len());
        assert_eq!(base().digest(&key), base().digest(&key));
        assert_ne!(base().digest(&key), base().digest(&DigestKey::new([8; 32])));
    }
}
