//! What an approval must match: a keyed hash over exactly what would execute.

use core::num::NonZeroU32;
use std::borrow::Cow;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};

use super::GrantScope;
use crate::contract::TargetKind;
use crate::preview::Preview;
use crate::provider::{Credential, ProviderDecision, ProviderType};
use crate::session::{Principal, SessionIdentity};

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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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
    /// For whom it is asked, the nearest first.
    pub(crate) behind: Cow<'a, [Principal]>,
    pub(crate) served: Served<'a>,
    pub(crate) preview: Option<&'a Preview>,
}

/// Who carries a call out, and by what.
#[derive(Clone, Copy)]
pub(crate) struct Served<'a> {
    /// The kind, and the name of the configured connection, never in one text.
    provider: (ProviderType, &'a str),
    credential: Credential,
    /// The foreign tool that the call ends at: what its provider calls it, and what answers to a call of it are bound to.
    tool: Option<(&'a str, &'a [u8; 32])>,
}

impl<'a> Served<'a> {
    /// By whom a decision says. Whoever files a call, goes on with it or answers it for longer takes it from here.
    pub(crate) fn of(decision: &'a ProviderDecision) -> Self {
        let tool = decision.ends_at();
        Self {
            provider: (decision.provider_type, &decision.provider_id),
            credential: decision.credential,
            tool: tool.map(|tool| (tool.definition().id.native.as_str(), tool.binding())),
        }
    }

    fn encode(&self, encoding: &mut Encoding) {
        encoding.field(self.provider.0.as_str().as_bytes());
        encoding.field(self.provider.1.as_bytes());
        encoding.field(self.credential.as_str().as_bytes());
        encoding.optional(self.tool.map(|(native, _)| native.as_bytes()));
        encoding.optional(self.tool.map(|(_, binding)| binding.as_slice()));
    }
}

impl DigestInput<'_> {
    /// HMAC-SHA-256 over a length-prefixed encoding: no two inputs share an encoding.
    pub(crate) fn digest(&self, key: &DigestKey) -> InvocationDigest {
        let mut encoding = Encoding::under(key, b"capability invocation digest, version 5");
        self.what(&mut encoding);
        encoding.field(self.arguments);
        self.acts_on(&mut encoding);
        encoding.field(self.identity.subject.as_str().as_bytes());
        encoding.field(self.identity.id.as_bytes());
        encoding.field(&(self.behind.len() as u64).to_be_bytes());
        for principal in self.behind.iter() {
            encoding.field(principal.to_string().as_bytes());
        }
        self.served.encode(&mut encoding);
        encoding.optional(self.preview.map(|preview| preview.text.as_bytes()));
        let raise = self.preview.and_then(|preview| preview.raise);
        encoding.optional(raise.map(|raise| raise.verdict.verdict().as_str().as_bytes()));
        encoding.optional(raise.map(|raise| raise.code.code().as_str().as_bytes()));
        let acts_on = self.preview.map_or(&[][..], |preview| &preview.acts_on);
        encoding.field(&(acts_on.len() as u64).to_be_bytes());
        for text in acts_on {
            encoding.field(text.as_bytes());
        }
        let secrets = self.preview.map_or(&[][..], |preview| &preview.secrets);
        encoding.field(&(secrets.len() as u64).to_be_bytes());
        for one in secrets {
            encoding.field(one.variable.as_bytes());
            encoding.field(one.secret.as_bytes());
        }
        for rests_on in self.preview.iter().flat_map(|preview| &preview.rests_on) {
            encoding.field(rests_on);
        }
        encoding.done()
    }

    /// What the same subject would repeat: this very call, whatever its session and turn, and whatever it looks like by now.
    pub(crate) fn repeated(&self, key: &DigestKey) -> InvocationDigest {
        let mut encoding = Encoding::under(key, b"capability repeated call, version 2");
        self.what(&mut encoding);
        encoding.field(self.arguments);
        self.acts_on(&mut encoding);
        encoding.field(self.identity.subject.as_str().as_bytes());
        self.served.encode(&mut encoding);
        encoding.done()
    }

    /// What a grant with this scope covers.
    pub(crate) fn covered(&self, key: &DigestKey, scope: GrantScope) -> InvocationDigest {
        match scope {
            GrantScope::Exact => self.repeated(key),
            GrantScope::Target => {
                let mut encoding = Encoding::under(key, b"capability on a target, version 2");
                self.what(&mut encoding);
                self.acts_on(&mut encoding);
                encoding.field(self.identity.subject.as_str().as_bytes());
                self.served.encode(&mut encoding);
                encoding.done()
            }
        }
    }

    /// The definition that a grant is bound to.
    pub(crate) fn definition(&self) -> [u8; 32] {
        let Served { provider: (kind, id), credential, tool } = self.served;
        let mut hash = Sha256::new_with_prefix(self.schema);
        for part in [kind.as_str().as_bytes(), id.as_bytes(), credential.as_str().as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        if let Some((native, binding)) = tool {
            hash.update(binding);
            hash.update(native);
        }
        hash.finalize().into()
    }

    fn what(&self, encoding: &mut Encoding) {
        encoding.field(self.capability.as_bytes());
        encoding.field(&self.version.get().to_be_bytes());
        encoding.field(self.schema);
    }

    fn acts_on(&self, encoding: &mut Encoding) {
        encoding.optional(self.target.map(|(kind, _)| kind.as_str().as_bytes()));
        encoding.optional(self.target.map(|(_, text)| text.as_bytes()));
    }
}

/// What a question stood on when it was asked: a standing answer holds for this very question, and for no other that comes
/// up under the same name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Ground {
    /// The capability's definition.
    pub(crate) definition: [u8; 32],
    /// The policy in force.
    pub(crate) policy: [u8; 32],
    /// Who asked the question, by contributor, reason and rule.
    pub(crate) question: [u8; 32],
}

impl Ground {
    /// As a store gives it back.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 96]) -> Self {
        let mut parts = [[0; 32]; 3];
        parts.iter_mut().zip(bytes.as_chunks::<32>().0).for_each(|(part, chunk)| *part = *chunk);
        let [definition, policy, question] = parts;
        Self { definition, policy, question }
    }

    /// For a store to keep.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 96] {
        let mut bytes = [0; 96];
        let parts = [self.definition, self.policy, self.question];
        bytes.iter_mut().zip(parts.as_flattened()).for_each(|(byte, part)| *byte = *part);
        bytes
    }
}

impl core::fmt::Debug for Ground {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Ground")
    }
}

struct Encoding(Hmac<Sha256>);

impl Encoding {
    fn under(key: &DigestKey, purpose: &[u8]) -> Self {
        // HMAC pads a shorter key with zeros to its block; writing the block leaves no fallible constructor.
        let mut block = [0; 64];
        block.first_chunk_mut::<32>().into_iter().for_each(|half| *half = key.0);
        let mut encoding = Self(Hmac::<Sha256>::new(&block.into()));
        encoding.field(purpose);
        encoding
    }

    fn done(self) -> InvocationDigest {
        InvocationDigest(self.0.finalize().into_bytes().into())
    }

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
    use super::{DigestInput, DigestKey, Ground, Served};
    use crate::approval::GrantScope;
    use crate::contract::TargetKind;
    use crate::handle::SecretUse;
    use crate::preview::{Concern, Preview, Raise};
    use crate::provider::{Credential, ProviderType};
    use crate::session::{Mode, Origin, Principal, SessionId, SessionIdentity, Subject, TurnId};

    const HERE: Served<'_> =
        Served { provider: (ProviderType::Compiled, "compiled"), credential: Credential::Everybodys, tool: None };

    fn identity(subject: &str, session: u8, turn: u64) -> SessionIdentity {
        SessionIdentity {
            id: SessionId::from_bytes([session; 16]),
            subject: subject.parse::<Subject>().unwrap(),
            mode: Mode::Live,
            origin: Origin::Model,
            turn: TurnId(turn),
        }
    }

    fn principal(subject: &str, agent: Option<&str>) -> Principal {
        let agent = agent.and_then(crate::audit::ConfiguredName::of);
        Principal { identity: identity(subject, 3, 1), slot: None, agent }
    }

    fn secret(variable: &str, secret: &str) -> SecretUse {
        SecretUse { variable: variable.to_owned(), secret: secret.to_owned() }
    }

    /// Every field moves the digest, and moving text from one field to the next is not the same.
    #[test]
    fn every_field_counts() {
        let (key, alice, bob) = (DigestKey::new([7; 32]), identity("alice", 1, 1), identity("bob", 1, 1));
        let later = identity("alice", 2, 1);
        let preview = |text: &str, hash: u8| Preview {
            text: text.into(),
            rests_on: vec![[hash; 32]],
            raise: None,
            acts_on: Vec::new(),
            secrets: Vec::new(),
        };
        let raising = |raise| Preview { raise: Some(raise), ..preview("a", 1) };
        let previews = [
            preview("a", 1),
            preview("b", 1),
            preview("a", 2),
            raising(Raise::ask(Concern::GuardHigh)),
            raising(Raise::ask_fresh(Concern::GuardHigh)),
            raising(Raise::ask(Concern::GuardBlock)),
            Preview { acts_on: vec!["b".to_owned()], ..preview("a", 1) },
            Preview { acts_on: vec![String::new(), "b".to_owned()], ..preview("a", 1) },
            Preview { secrets: vec![secret("A", "b")], ..preview("a", 1) },
            Preview { secrets: vec![secret("A", "c")], ..preview("a", 1) },
            Preview { secrets: vec![secret("A", "b"), secret("B", "b")], ..preview("a", 1) },
        ];
        let base = || DigestInput {
            capability: "web.search",
            version: core::num::NonZeroU32::MIN,
            schema: &[1; 32],
            arguments: br#"{"id":9007199254740992}"#,
            target: Some((TargetKind::Url, "https://a.example/")),
            identity: &alice,
            behind: [][..].into(),
            served: HERE,
            preview: None,
        };
        let by = |tool| DigestInput { served: Served { tool: Some(tool), ..HERE }, ..base() };
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
            DigestInput { behind: vec![principal("bob", None)].into(), ..base() },
            DigestInput { behind: vec![principal("carol", None)].into(), ..base() },
            DigestInput { behind: vec![principal("bob", Some("critic"))].into(), ..base() },
            DigestInput { behind: vec![principal("bob", None), principal("carol", None)].into(), ..base() },
            DigestInput { served: Served { provider: (ProviderType::Edge, "compiled"), ..HERE }, ..base() },
            DigestInput { served: Served { provider: (ProviderType::Compiled, "edge"), ..HERE }, ..base() },
            DigestInput { served: Served { credential: Credential::Own, ..HERE }, ..base() },
            by(("find", &[0; 32])),
            by(("find", &[1; 32])),
            by(("look", &[0; 32])),
        ];
        digests.extend(previews.iter().map(|preview| DigestInput { preview: Some(preview), ..base() }));
        let bytes: std::collections::BTreeSet<_> = digests.iter().map(|input| *input.digest(&key).as_bytes()).collect();
        assert_eq!(bytes.len(), digests.len());
        assert_eq!(base().digest(&key), base().digest(&key));

        // A repeated call is the same in another session, for anybody and with another look, and different in everything else.
        let repeated: std::collections::BTreeSet<_> =
            digests.iter().map(|input| *input.repeated(&key).as_bytes()).collect();
        assert_eq!(repeated.len(), digests.len() - 5 - previews.len());
        let on_target = |input: DigestInput<'_>| input.covered(&key, GrantScope::Target);
        assert_eq!(on_target(base()), on_target(DigestInput { arguments: b"{}", ..base() }));
        assert_ne!(on_target(base()), on_target(DigestInput { target: None, ..base() }));
        assert_ne!(on_target(base()), on_target(DigestInput { identity: &bob, ..base() }));
        assert_ne!(on_target(base()), on_target(DigestInput { capability: "web.fetch", ..base() }));
        assert_ne!(on_target(base()), base().covered(&key, GrantScope::Exact));
        let served: Vec<_> = digests.iter().map(DigestInput::definition).collect();
        let bound: std::collections::BTreeSet<_> = served.iter().collect();
        // Two schemas, two providers, a credential and three tools.
        assert_eq!(bound.len(), 2 + 2 + 1 + 3);
        assert_ne!(base().definition(), DigestInput { schema: &[2; 32], ..base() }.definition());
        assert_ne!(base().digest(&key), base().digest(&DigestKey::new([8; 32])));
    }

    #[test]
    fn a_ground_comes_back_as_it_was() {
        let ground = Ground { definition: [1; 32], policy: [2; 32], question: [3; 32] };
        assert_eq!(Ground::from_bytes(&ground.to_bytes()), ground);
    }
}
