//! What a model calls a tool: a projection of its identity.

use super::ProviderType;

/// The name of a capability of which one version is shown.
pub(super) fn compiled(name: &str) -> String {
    name.replace('.', "-")
}

/// The name of a provider's own tool.
pub(super) fn provided(kind: ProviderType, provider: &str, native: &str) -> String {
    format!("{}-{provider}--{native}", kind.as_str())
}
