//! Why a tool cannot be called, in one of seven ways.

use serde::Serialize;

use crate::code::Code;

/// The ways in which a call of a tool goes another way than the caller thought. Each has a word for machines and a sentence
/// for people; no two mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Diagnostic {
    /// No tool has that name.
    UnknownTool,
    /// The capability is known, and no provider here owns it.
    UnsupportedCapability,
    /// A provider has the contract, and nothing is bound to it at run time.
    MissingRuntimeBinding,
    /// The provider is known, and offline.
    ProviderOffline,
    /// Mode, permission or deployment policy blocks it.
    PolicyBlocked,
    /// The call's shape is invalid before any provider is looked at.
    MalformedToolCall,
    /// Another provider serves than the first choice.
    FallbackSelected,
}

impl Diagnostic {
    /// All seven.
    pub const ALL: [Self; 7] = [
        Self::UnknownTool,
        Self::UnsupportedCapability,
        Self::MissingRuntimeBinding,
        Self::ProviderOffline,
        Self::PolicyBlocked,
        Self::MalformedToolCall,
        Self::FallbackSelected,
    ];

    /// The one that a refusal with this code is; none for what is no question of which tool and whether: a person's answer,
    /// the host's own faults, and what only asks.
    #[must_use]
    pub const fn of(code: Code) -> Option<Self> {
        Some(match code {
            Code::UnknownCapability | Code::UnknownTool | Code::SelectionStale => Self::UnknownTool,
            Code::UnsupportedCapability => Self::UnsupportedCapability,
            Code::MissingRuntimeBinding | Code::SecretUnbound => Self::MissingRuntimeBinding,
            Code::ProviderOffline => Self::ProviderOffline,
            Code::ModeRefused
            | Code::Locked
            | Code::Undeclared
            | Code::PlanMode
            | Code::OptInOff
            | Code::OptInDamaged
            | Code::DefaultDeny
            | Code::RuleDeny
            | Code::Delegation
            | Code::ManifestDeny
            | Code::TargetUnjudged
            | Code::ClockUnjudged
            | Code::TurnCap
            | Code::TurnTotal
            | Code::GuardBlock
            | Code::OutsideWorkspace
            | Code::ProtectedPath
            | Code::ToolQuarantined
            | Code::ToolNotTaken
            | Code::FallbackDisabled => Self::PolicyBlocked,
            Code::ArgumentsTooLarge
            | Code::ArgumentsMalformed
            | Code::DuplicateKey
            | Code::TooDeep
            | Code::ControlCharacter
            | Code::NotAnObject
            | Code::SchemaViolation
            | Code::ArgumentRefused
            | Code::CheckRefused
            | Code::ClaimsTooLarge
            | Code::SelectionMissing
            | Code::OperationMalformed => Self::MalformedToolCall,
            Code::SessionEnded
            | Code::SchemaFault
            | Code::IsolationUnavailable
            | Code::PrepareFailed
            | Code::PrepareTimedOut
            | Code::PreparePanicked
            | Code::DefaultAsk
            | Code::RuleAskFresh
            | Code::RuleAsk
            | Code::ManifestAsk
            | Code::FloorRequired
            | Code::GuardHigh
            | Code::SecretBound
            | Code::SensitivePath
            | Code::Clear
            | Code::StoreUnavailable
            | Code::ApprovalUnknown
            | Code::ApprovalMismatch
            | Code::ApprovalAnswered
            | Code::ApprovalConsumed
            | Code::DenialLoop
            | Code::TooManyPending
            | Code::RunnerSaturated
            | Code::AuditUnavailable
            | Code::Unrecorded
            | Code::RedactorFailed
            | Code::ResultRedacted => return None,
        })
    }

    /// The one of that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }

    /// What a person is told.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::UnknownTool => "there is no tool of that name",
            Self::UnsupportedCapability => "no provider owns this capability",
            Self::MissingRuntimeBinding => "its provider has the contract, and nothing is bound to it here",
            Self::ProviderOffline => "its provider is known, and cannot be reached now",
            Self::PolicyBlocked => "mode, permission or policy blocks it",
            Self::MalformedToolCall => "the call itself is malformed",
            Self::FallbackSelected => "another provider served than the first choice",
        }
    }

    /// The word for machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::UnsupportedCapability => "unsupported_capability",
            Self::MissingRuntimeBinding => "missing_runtime_binding",
            Self::ProviderOffline => "provider_offline",
            Self::PolicyBlocked => "policy_blocked",
            Self::MalformedToolCall => "malformed_tool_call",
            Self::FallbackSelected => "fallback_selected",
        }
    }
}
