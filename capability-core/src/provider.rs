//! Who executes: one value from which both the visible tool and the executed call come.

use core::num::NonZeroU32;

use crate::contract::{Capability, CapabilityName};

/// Which kind of provider supplies a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProviderType {
    /// This process's own workers: a compiled capability.
    Compiled,
}

/// The path a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// Explicitly configured runtime of this host.
    ServerRuntime,
    /// There is none.
    Unsupported,
}

/// Whether the selected provider can execute now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdmissionStatus {
    /// It can.
    Ready,
    /// The entry exists and this host has nothing bound to it.
    MissingRuntimeBinding,
}

/// Whether what the provider needs at run time is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuntimeBindingStatus {
    /// It is.
    Bound,
    /// It is not.
    Missing,
}

/// Whether another provider may serve in the first one's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FallbackPolicy {
    /// None may.
    Never,
}

/// The decision about one capability for one session. Listing and running both need one in hand.
///
/// For a compiled capability it is trivial.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a provider decision that is not looked at decides nothing"]
pub struct ProviderDecision {
    /// The registered capability.
    pub capability: CapabilityName,
    /// Its version.
    pub version: NonZeroU32,
    /// What a model calls it: the dotted name, made legal for model APIs by the surface.
    pub tool_name: &'static str,
    /// Which kind of provider.
    pub provider_type: ProviderType,
    /// Which one of that kind.
    pub provider_id: &'static str,
    /// Who runs the body.
    pub execution_owner: &'static str,
    /// Which path the call takes.
    pub route: Route,
    /// Whether it can run now.
    pub admission_status: AdmissionStatus,
    /// Whether what it needs at run time is there.
    pub runtime_binding_status: RuntimeBindingStatus,
    /// Whether another may serve.
    pub fallback_policy: FallbackPolicy,
    /// The provider in whose place this one serves.
    pub fallback_from: Option<&'static str>,
    /// Why it works less well than it could.
    pub degraded_reason: Option<&'static str>,
    /// Why it cannot be reached.
    pub offline_reason: Option<&'static str>,
    /// What a person is told about it.
    pub user_visible_message: Option<&'static str>,
    /// What a trace of the call carries besides: names and values that hold no content.
    pub trace_fields: &'static [(&'static str, &'static str)],
}

impl ProviderDecision {
    /// The decision about a compiled capability: this process executes it, if the host serves its handles.
    pub(crate) const fn compiled(capability: &Capability, bound: bool) -> Self {
        Self {
            capability: capability.name(),
            version: capability.version(),
            tool_name: capability.name().as_static(),
            provider_type: ProviderType::Compiled,
            provider_id: "compiled",
            execution_owner: "host",
            route: Route::ServerRuntime,
            admission_status: if bound { AdmissionStatus::Ready } else { AdmissionStatus::MissingRuntimeBinding },
            runtime_binding_status: if bound { RuntimeBindingStatus::Bound } else { RuntimeBindingStatus::Missing },
            fallback_policy: FallbackPolicy::Never,
            fallback_from: None,
            degraded_reason: None,
            offline_reason: None,
            user_visible_message: if bound { None } else { Some(crate::code::Code::MissingRuntimeBinding.message()) },
            trace_fields: &[],
        }
    }
}
