//! What is stored while a person is asked.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{ApprovalStatus, GrantLimit, Ground, InvocationDigest};
use crate::code::Code;
use crate::contract::{Class, Risk, TargetKind};
use crate::policy::Verdict;
use crate::preview::Preview;
use crate::provider::{Credential, ProviderDecision, ProviderType};
use crate::session::{Principal, Session, SessionIdentity, SlotPath};
use crate::time::Timestamp;

/// A pending invocation's random name: 128 bits, 32 hexadecimal digits as text. Knowing it lets one resume, never approve.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalId(pub(crate) [u8; 16]);

crate::hex::hex_text!(ApprovalId, 16, "an approval id is 32 hexadecimal digits");

impl ApprovalId {
    /// From 16 unpredictable bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

/// What the proposer says about its proposal: shown to people as claims, part of neither digest nor audit.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Why, at most [`Claims::MAX_REASON`] bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// On what grounds, at most [`Claims::MAX_EVIDENCE`] bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl core::fmt::Debug for Claims {
    /// Without a word of them.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let bytes = |claim: &Option<String>| claim.as_ref().map_or(0, String::len);
        write!(f, "Claims({} and {} bytes)", bytes(&self.reason), bytes(&self.evidence))
    }
}

impl Claims {
    /// The longest reason, in bytes.
    pub const MAX_REASON: usize = 1024;
    /// The longest evidence, in bytes.
    pub const MAX_EVIDENCE: usize = 4096;

    pub(crate) fn fit(&self) -> bool {
        let within = |claim: &Option<String>, max| claim.as_ref().is_none_or(|text| text.len() <= max);
        within(&self.reason, Self::MAX_REASON) && within(&self.evidence, Self::MAX_EVIDENCE)
    }
}

/// One pending invocation, content included. Lives in the approval store, a named content store: everything that a caller
/// wrote is erased when it ends. Shown to operators only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingApproval {
    /// Its random name.
    pub id: ApprovalId,
    /// The capability's name, as registered.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// The class that counted.
    pub class: Class,
    /// How grave.
    pub risk: Risk,
    /// Who asked, in which mode and turn.
    pub identity: SessionIdentity,
    /// The slot of the subject's agent that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotPath>,
    /// For whom it is asked, the nearest first: what each of them may not do when it runs is not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<Principal>,
    /// The normalised bytes that would execute.
    #[serde(with = "text_bytes")]
    pub arguments: Vec<u8>,
    /// What it acts on.
    pub target: Option<(TargetKind, String)>,
    /// What the author's preview returned.
    pub preview: Option<Preview>,
    /// What the proposer claims.
    pub claims: Claims,
    /// Why it is asked: the codes of the deciding contributors.
    pub because: Vec<Code>,
    /// What it takes: `ask`, or `ask_fresh`, which no grant answers.
    #[serde(default = "fresh")]
    pub verdict: Verdict,
    /// How far a grant may go that is given along with the answer; none where there can be none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantLimit>,
    /// Who would carry it out; none where that is this host by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Carrier>,
    /// The call that an operator put this one in the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<ApprovalId>,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// When it expires, answered or not.
    pub expires_at: Timestamp,
}

impl PendingApproval {
    /// Whether a session of its subject is in the slot that asked, and acts for those for whom it was asked.
    pub(crate) fn is_of(&self, session: &Session) -> bool {
        self.slot.as_ref() == session.slot() && session.acts_for(&self.behind)
    }
}

/// Who would carry out a call that waits. The digest of an approval binds to the same provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carrier {
    /// Which kind of provider.
    pub kind: ProviderType,
    /// Which one of that kind.
    pub id: String,
    /// The tool of the provider's own by which it would, for a capability that it takes by no name of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whose credential would go along.
    #[serde(default)]
    pub credential: Credential,
    /// In whose place, where it is not the first choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_from: Option<String>,
}

impl Carrier {
    /// Of a decision; none where this host carries it out and was the first choice.
    pub(crate) fn of(decision: &ProviderDecision) -> Option<Self> {
        let fallback_from = decision.fallback_from.as_deref().map(str::to_owned);
        let kind = decision.provider_type;
        (kind != ProviderType::Compiled || fallback_from.is_some()).then(|| Self {
            kind,
            id: decision.provider_id.clone().into_owned(),
            tool: decision.carried_by().map(|(native, _)| native.to_owned()),
            credential: decision.credential,
            fallback_from,
        })
    }
}

impl core::fmt::Display for Carrier {
    /// In words, as a person who is asked reads them.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.kind {
            ProviderType::Compiled => f.write_str("this host")?,
            ProviderType::Edge | ProviderType::Mcp | ProviderType::Relay => {
                write!(f, "{} `{}`", self.kind.as_str(), self.id)?
            }
        }
        if let Some(tool) = &self.tool {
            write!(f, ", by its tool `{tool}`")?;
        }
        match self.credential {
            Credential::Everybodys => {}
            Credential::Own => f.write_str(", with the subject's own credential")?,
        }
        match &self.fallback_from {
            Some(first) => write!(f, ", in the place of `{first}`"),
            None => Ok(()),
        }
    }
}

/// What is stored without a verdict takes the most.
const fn fresh() -> Verdict {
    Verdict::AskFresh
}

impl core::fmt::Debug for PendingApproval {
    /// Without arguments, target, preview and claims: this is a content store's, and no log's.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "PendingApproval({} for {}@{})", self.id, self.capability, self.version)
    }
}

/// The normalised bytes are JSON text, hence UTF-8.
mod text_bytes {
    use serde::{Deserialize, Deserializer, Serializer, ser::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(core::str::from_utf8(bytes).map_err(S::Error::custom)?)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        String::deserialize(deserializer).map(String::into_bytes)
    }
}

/// What remains of an approval whether or not its content was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalSummary {
    /// Its random name.
    pub id: ApprovalId,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// The capability's name.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// The class that counted.
    pub class: Class,
    /// How grave.
    pub risk: Risk,
    /// Who asked.
    pub identity: SessionIdentity,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// A pending invocation with the digest that an answer binds to.
#[derive(Debug, Clone)]
pub struct Filed {
    /// What was asked.
    pub approval: PendingApproval,
    /// The keyed digest of what would execute.
    pub digest: InvocationDigest,
    /// The keyed digest of what its subject would repeat: the same in every session and turn.
    pub repeated: InvocationDigest,
    /// What the question stands on.
    pub ground: Ground,
}

impl Filed {
    /// What remains of it when its content is erased.
    #[must_use]
    pub fn summary(&self) -> ApprovalSummary {
        let PendingApproval { id, capability, version, class, risk, identity, created_at, expires_at, .. } =
            &self.approval;
        ApprovalSummary {
            id: *id,
            status: ApprovalStatus::Pending,
            capability: capability.clone(),
            version: *version,
            class: *class,
            risk: *risk,
            identity: identity.clone(),
            created_at: *created_at,
            expires_at: *expires_at,
        }
    }
}

/// What came in a superseded approval's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Successor {
    /// Another call, approved as it was filed.
    By(ApprovalId),
    /// Nothing: what it was changed to was refused, with this reason.
    Refused(Code),
}

/// A call that people approved and that was used, as it is retained where an operator turned that on. Content: shown to
/// operators only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastCall {
    /// The approval it was used under.
    pub approval: ApprovalId,
    /// Whose call.
    pub subject: crate::session::Subject,
    /// The capability's name.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// The bytes that executed.
    #[serde(with = "text_bytes")]
    pub arguments: Vec<u8>,
    /// What it acted on.
    pub target: Option<(TargetKind, String)>,
    /// When the approval was used.
    pub at: Timestamp,
}

impl core::fmt::Debug for PastCall {
    /// Without arguments and target.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "PastCall({} of {}@{})", self.approval, self.capability, self.version)
    }
}
