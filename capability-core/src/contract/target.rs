//! What an invocation acts on, and how grave it is.

use serde::{Deserialize, Serialize};

/// The kind of thing an invocation acts on: what policy matches and an approver sees first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// An absolute `http` or `https` address.
    Url,
    /// A path inside a workspace.
    Path,
    /// A host name or address.
    Host,
    /// A service the operator configured.
    Service,
    /// A repository the operator connected.
    Repository,
    /// A person's address, such as a mailbox.
    Address,
    /// A program and its arguments.
    Argv,
    /// Free text.
    Text,
    /// Nothing in particular.
    None,
}

impl TargetKind {
    /// The word used in the attribute and in rules.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Path => "path",
            Self::Host => "host",
            Self::Service => "service",
            Self::Repository => "repository",
            Self::Address => "address",
            Self::Argv => "argv",
            Self::Text => "text",
            Self::None => "none",
        }
    }
}

/// A target declaration: its kind and the argument property that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// What kind of thing.
    pub kind: TargetKind,
    /// The argument property whose value names it; absent for [`TargetKind::None`].
    pub argument: Option<&'static str>,
}

impl Target {
    /// No target: what an attribute without `target` means.
    pub const NONE: Self = Self { kind: TargetKind::None, argument: None };
}

/// How grave a wrong call would be, as the author sees it. Shown and sorted by; never an input of the confirmation table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Easily undone or harmless.
    Low,
    /// Worth a look.
    Medium,
    /// Costly to undo.
    High,
    /// Not to be undone.
    Critical,
}

impl Risk {
    /// The word used in the attribute.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// What an attribute without `risk` means: the class decides.
    #[must_use]
    pub const fn of_class(class: super::Class) -> Self {
        use super::{Network, SideEffect};
        match (class.side_effect, class.network) {
            (SideEffect::ReadOnly, Network::Local) => Self::Low,
            (SideEffect::ReadOnly, Network::External) | (SideEffect::Mutating, Network::Local) => Self::Medium,
            (SideEffect::Mutating, Network::External) => Self::High,
        }
    }
}
