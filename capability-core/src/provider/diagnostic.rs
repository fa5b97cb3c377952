//! Why a tool cannot be called, in one of seven ways.

use serde::Serialize;

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
