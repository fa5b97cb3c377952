//! The decision about one tool for one session.

use core::num::NonZeroU32;
use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::ToolDefinition;
use crate::contract::{Capability, CapabilityName, Class};

/// Which kind of provider supplies a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderType {
    /// This process's own workers: a compiled capability. What the contract calls the server.
    Compiled,
    /// A person's own machine, or the command line on it.
    Edge,
    /// A server that speaks the Model Context Protocol.
    Mcp,
    /// A workspace or agent elsewhere, reached through a gateway.
    Relay,
}

impl ProviderType {
    /// The word shown to people and machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compiled => "compiled",
            Self::Edge => "edge",
            Self::Mcp => "mcp",
            Self::Relay => "relay",
        }
    }
}

/// The path a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// State and control operations of this host: what works on the host's own stores.
    ServerControlPlane,
    /// Explicitly configured runtime of this host.
    ServerRuntime,
    /// An MCP server that is bound to the request or session.
    RequestScopedMcp,
    /// A provider that the person owns.
    EdgeBound,
    /// A workspace or resident agent elsewhere.
    GatewayRelay,
    /// There is none.
    Unsupported,
}

/// Whether the selected provider can execute now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AdmissionStatus {
    /// It can.
    Ready,
    /// The tool does not appear in this session's surface.
    Hidden,
    /// Mode, permission or deployment policy blocks the call.
    PolicyBlocked,
    /// The entry or contract exists and this host has nothing bound to it.
    MissingRuntimeBinding,
    /// The provider is known, and offline.
    ProviderOffline,
    /// No provider owns this capability.
    Unsupported,
    /// The shape of the call is invalid before any provider is looked at.
    Malformed,
}

/// Whether what the provider needs at run time is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuntimeBindingStatus {
    /// It is.
    Bound,
    /// It is not.
    Missing,
}

/// Whether another provider may serve in the first one's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackPolicy {
    /// None may: there is no other, or none was approved.
    Never,
    /// An operator turned it off for this capability: what the first choice cannot do is blocked.
    Disabled,
    /// An operator approved it.
    Approved,
}

/// The decision about one tool for one session. Listing and running both need one in hand.
///
/// Identity is the pair of [`provider_id`](Self::provider_id) and [`native_id`](Self::native_id), with the digest of the
/// definition; [`tool_name`](Self::tool_name) is a projection of it.
#[derive(Debug, Clone)]
#[must_use = "a provider decision that is not looked at decides nothing"]
pub struct ProviderDecision {
    /// The registered capability that the call goes through.
    pub capability: CapabilityName,
    /// Its version.
    pub version: NonZeroU32,
    /// What a model calls it.
    pub tool_name: Cow<'static, str>,
    /// Which kind of provider.
    pub provider_type: ProviderType,
    /// Which one of that kind, by the name of its configured connection.
    pub provider_id: Cow<'static, str>,
    /// What the provider itself calls the tool. For a compiled capability its name.
    pub native_id: Cow<'static, str>,
    /// The class that policy, floor and audit use: the entry's own, or a foreign tool's as an operator classified that very
    /// definition.
    pub class: Class,
    /// What a foreign tool was when the decision was made; none for a compiled capability.
    pub definition: Option<Arc<ToolDefinition>>,
    /// Who runs the body.
    pub execution_owner: Cow<'static, str>,
    /// Which path the call takes.
    pub route: Route,
    /// Whether it can run now.
    pub admission_status: AdmissionStatus,
    /// Whether what it needs at run time is there.
    pub runtime_binding_status: RuntimeBindingStatus,
    /// Whether another may serve.
    pub fallback_policy: FallbackPolicy,
    /// The provider in whose place this one serves.
    pub fallback_from: Option<Cow<'static, str>>,
    /// Why it works less well than it could.
    pub degraded_reason: Option<Cow<'static, str>>,
    /// Why it cannot be reached.
    pub offline_reason: Option<Cow<'static, str>>,
    /// What a person is told about it.
    pub user_visible_message: Option<Cow<'static, str>>,
    /// What a trace of the call carries besides: names and values that hold no content.
    pub trace_fields: Cow<'static, [(&'static str, &'static str)]>,
}

impl ProviderDecision {
    /// The decision about a compiled capability: this process executes it, if the host serves its handles.
    pub(crate) const fn compiled(capability: &Capability, bound: bool) -> Self {
        Self {
            capability: capability.name(),
            version: capability.version(),
            tool_name: Cow::Borrowed(capability.name().as_static()),
            provider_type: ProviderType::Compiled,
            provider_id: Cow::Borrowed("compiled"),
            native_id: Cow::Borrowed(capability.name().as_static()),
            class: capability.class(),
            definition: None,
            execution_owner: Cow::Borrowed("host"),
            route: Route::ServerRuntime,
            admission_status: if bound { AdmissionStatus::Ready } else { AdmissionStatus::MissingRuntimeBinding },
            runtime_binding_status: if bound { RuntimeBindingStatus::Bound } else { RuntimeBindingStatus::Missing },
            fallback_policy: FallbackPolicy::Never,
            fallback_from: None,
            degraded_reason: None,
            offline_reason: None,
            user_visible_message: if bound {
                None
            } else {
                Some(Cow::Borrowed(crate::code::Code::MissingRuntimeBinding.message()))
            },
            trace_fields: Cow::Borrowed(&[]),
        }
    }

    /// Whether the tool appears in the session's surface at all.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        match self.admission_status {
            AdmissionStatus::Ready
            | AdmissionStatus::PolicyBlocked
            | AdmissionStatus::MissingRuntimeBinding
            | AdmissionStatus::ProviderOffline => true,
            AdmissionStatus::Hidden | AdmissionStatus::Unsupported | AdmissionStatus::Malformed => false,
        }
    }
}
