//! What an approver sees beyond the arguments.

use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::handle::SecretUse;
use crate::policy::Verdict;

/// Made by an author's `preview` before anybody is asked: a text for the approver, such as a diff, and the hashes of what
/// it rests on, and whether this very call needs more than its class does. All of it enters the digest, so that an approval
/// answers for what was shown.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// Shown as plain text, never as markup.
    pub text: String,
    /// SHA-256 of everything that must still be so when the call runs.
    pub rests_on: Vec<[u8; 32]>,
    /// What this call needs beyond its class. It can only raise the verdict, and none leaves it where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise: Option<Raise>,
    /// What the call acts on beside its target, each written as a target of the entry's kind: the second of two paths, every
    /// command that a script would run. Rules are held against each, and the strictest answer counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts_on: Vec<String>,
    /// The secrets that the call binds to a command. The subject's manifest must declare each, as `secret.bind:VARIABLE`, and a
    /// person answers this very call; what is not named here is not bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretUse>,
}

/// A capability's own word on one call: it needs more than its class does.
///
/// Policy takes it in as one contributor among others, so it lowers nothing: there is no raise to `allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raise {
    /// What it takes at least.
    pub verdict: RaisedTo,
    /// Why.
    pub code: Concern,
}

impl Raise {
    /// A person is asked.
    #[must_use]
    pub const fn ask(code: Concern) -> Self {
        Self { verdict: RaisedTo::Ask, code }
    }

    /// A person answers this very call.
    #[must_use]
    pub const fn ask_fresh(code: Concern) -> Self {
        Self { verdict: RaisedTo::AskFresh, code }
    }

    /// The call is refused at policy.
    #[must_use]
    pub const fn deny(code: Concern) -> Self {
        Self { verdict: RaisedTo::Deny, code }
    }
}

/// What a verdict can be raised to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RaisedTo {
    /// Someone answers it.
    Ask,
    /// Someone answers this very call, and no standing answer does.
    AskFresh,
    /// It does not run.
    Deny,
}

impl RaisedTo {
    /// The verdict it is.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::Ask => Verdict::Ask,
            Self::AskFresh => Verdict::AskFresh,
            Self::Deny => Verdict::Deny,
        }
    }
}

/// Why a capability raises the verdict on a call, as one closed list: what an author can say here is a word and no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    /// The command can do more than look, or is not fully understood.
    GuardHigh,
    /// The command is one that is never run.
    GuardBlock,
    /// It acts outside the workspace.
    OutsideWorkspace,
    /// It acts on a path that often holds secrets.
    SensitivePath,
    /// It acts on a path that nothing may change.
    ProtectedPath,
}

impl Concern {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::GuardHigh, Self::GuardBlock, Self::OutsideWorkspace, Self::SensitivePath, Self::ProtectedPath];

    /// The reason that outcomes and the audit give.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::GuardHigh => Code::GuardHigh,
            Self::GuardBlock => Code::GuardBlock,
            Self::OutsideWorkspace => Code::OutsideWorkspace,
            Self::SensitivePath => Code::SensitivePath,
            Self::ProtectedPath => Code::ProtectedPath,
        }
    }
}

impl core::fmt::Debug for Preview {
    /// Without its text and hashes.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { text, rests_on, raise, acts_on, secrets } = self;
        let (text, rests_on, acts_on, secrets) = (text.len(), rests_on.len(), acts_on.len(), secrets.len());
        write!(
            f,
            "Preview({text} bytes, resting on {rests_on}, raising {raise:?}, acting on {acts_on} more, binding {secrets})"
        )
    }
}

impl Preview {
    /// Whether a person can read it and a store hold it: text, hashes, what it acts on and what it binds are within their caps.
    #[must_use]
    pub fn is_within_bounds(&self) -> bool {
        self.text.len() <= MAX_PREVIEW_BYTES
            && self.rests_on.len() <= MAX_RESTS_ON
            && self.acts_on.len() <= MAX_ACTS_ON
            && self.acts_on.iter().map(String::len).sum::<usize>() <= MAX_PREVIEW_BYTES
            && SecretUse::all_fit(&self.secrets)
    }

    /// Whether policy has something to hear of it.
    pub(crate) fn is_for_policy(&self) -> bool {
        self.raise.is_some() || !self.acts_on.is_empty() || !self.secrets.is_empty()
    }
}

/// The longest preview text, in bytes.
pub const MAX_PREVIEW_BYTES: usize = 256 * 1024;
/// The most things that a preview acts on beside the call's target.
pub const MAX_ACTS_ON: usize = 1024;
/// The most hashes that a preview rests on.
pub const MAX_RESTS_ON: usize = 4096;
