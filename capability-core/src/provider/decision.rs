//! The decision about one tool for one session.

use core::num::NonZeroU32;
use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Credential, Diagnostic, ProvidedTool, ProviderState, Standing, ToolDefinition, ToolTag};
use crate::code::Code;
use crate::contract::{Capability, CapabilityName, Class};
use crate::handle::HandleFamily;
use crate::surface::WireName;

/// Which kind of provider supplies a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// All four.
    pub const ALL: [Self; 4] = [Self::Compiled, Self::Edge, Self::Mcp, Self::Relay];

    /// The kind of that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

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
    /// An MCP server that is bound to the session, and serves no other one.
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

impl AdmissionStatus {
    /// The word shown to people and machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Hidden => "hidden",
            Self::PolicyBlocked => "policy_blocked",
            Self::MissingRuntimeBinding => "missing_runtime_binding",
            Self::ProviderOffline => "provider_offline",
            Self::Unsupported => "unsupported",
            Self::Malformed => "malformed",
        }
    }

    /// The status of what is refused with this code; none for what says nothing about the tool: a person's answer, and a fault
    /// of the host.
    #[must_use]
    pub const fn of(code: Code) -> Option<Self> {
        // What a manifest does not declare nobody is shown, nor what nobody can ever call: its own schema is at fault.
        if matches!(code, Code::Undeclared | Code::SchemaFault) {
            return Some(Self::Hidden);
        }
        Some(match Diagnostic::of(code) {
            Some(Diagnostic::UnknownTool) => Self::Hidden,
            Some(Diagnostic::UnsupportedCapability) => Self::Unsupported,
            Some(Diagnostic::MissingRuntimeBinding) => Self::MissingRuntimeBinding,
            Some(Diagnostic::ProviderOffline) => Self::ProviderOffline,
            Some(Diagnostic::MalformedToolCall) => Self::Malformed,
            Some(Diagnostic::FallbackSelected) => Self::Ready,
            Some(Diagnostic::PolicyBlocked) => Self::PolicyBlocked,
            None => return None,
        })
    }
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
#[derive(Debug, Clone, PartialEq)]
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
    /// Whose credential goes along.
    pub credential: Credential,
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
    /// Why it cannot run now; none while it can.
    pub(crate) code: Option<Code>,
    /// The tool as it is pinned.
    pub(crate) tool: Option<ProvidedTool>,
    /// For a compiled capability: the provider's own tool that carries it out, as it is pinned.
    pub(crate) carrying: Option<ProvidedTool>,
    /// For a capability whose calls go through: the argument that names the provider.
    pub(crate) through: Option<&'static str>,
}

impl ProviderDecision {
    /// The decision about a compiled capability: this process executes it, if the host serves its handles.
    #[doc(hidden)]
    pub fn compiled(capability: &Capability, bound: bool) -> Self {
        let decision = Self {
            capability: capability.name(),
            version: capability.version(),
            tool_name: Cow::Owned(WireName::of_capability(capability.name()).into()),
            provider_type: ProviderType::Compiled,
            provider_id: Cow::Borrowed("compiled"),
            native_id: Cow::Borrowed(capability.name().as_static()),
            class: capability.class(),
            definition: None,
            credential: Credential::Everybodys,
            execution_owner: Cow::Borrowed("host"),
            route: if works_on_own_stores(capability) { Route::ServerControlPlane } else { Route::ServerRuntime },
            admission_status: AdmissionStatus::Ready,
            runtime_binding_status: RuntimeBindingStatus::Bound,
            fallback_policy: FallbackPolicy::Never,
            fallback_from: None,
            degraded_reason: None,
            offline_reason: None,
            user_visible_message: None,
            trace_fields: Cow::Borrowed(&[]),
            code: None,
            tool: None,
            carrying: None,
            through: None,
        };
        if bound { decision } else { decision.blocked(Code::MissingRuntimeBinding) }
    }

    /// The decision about a tool of a provider that this host serves: what decisions are made of, for whoever shows them.
    #[doc(hidden)]
    pub fn of_provided(entry: &Capability, state: &ProviderState, tool: &ProvidedTool) -> Self {
        super::decide::provided(entry, true, state, tool)
    }

    /// The same where something stands against it: the code says what, and the status follows from it.
    pub(crate) fn blocked(mut self, code: Code) -> Self {
        // A fault of the host blocks as well, and its own sentence says what it is.
        self.admission_status = AdmissionStatus::of(code).unwrap_or(AdmissionStatus::PolicyBlocked);
        match self.admission_status {
            AdmissionStatus::MissingRuntimeBinding => self.runtime_binding_status = RuntimeBindingStatus::Missing,
            AdmissionStatus::Unsupported => {
                self.runtime_binding_status = RuntimeBindingStatus::Missing;
                self.route = Route::Unsupported;
            }
            AdmissionStatus::Ready
            | AdmissionStatus::Hidden
            | AdmissionStatus::PolicyBlocked
            | AdmissionStatus::ProviderOffline
            | AdmissionStatus::Malformed => {}
        }
        self.user_visible_message = Some(self.sentence(code));
        self.code = Some(code);
        self
    }

    /// What is said of a refusal with this code: with why, where the decision knows that.
    pub(crate) fn sentence(&self, code: Code) -> Cow<'static, str> {
        let why = match (code, self.tool.as_ref().map(ProvidedTool::standing)) {
            (Code::ProviderOffline | Code::FallbackDisabled, _) => self.offline_reason.as_deref(),
            (Code::ToolNotTaken, Some(Standing::Faulty(fault))) => Some(fault.why()),
            _ => None,
        };
        why.map_or(Cow::Borrowed(code.message()), |why| format!("{}: {why}", code.message()).into())
    }

    /// The same, of what nobody is shown.
    pub(crate) fn hidden(mut self) -> Self {
        self.admission_status = AdmissionStatus::Hidden;
        self
    }

    /// Why it cannot run now, as a word with a sentence and a help; none while it can.
    #[must_use]
    pub const fn code(&self) -> Option<Code> {
        self.code
    }

    /// Which of the seven ways a call of it would go, other than the caller thinks; none when it runs as it is named.
    #[must_use]
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        match self.code {
            Some(code) => Diagnostic::of(code),
            None => self.fallback_from.as_ref().map(|_| Diagnostic::FallbackSelected),
        }
    }

    /// The digest of the foreign tool's definition; none for a compiled capability.
    #[must_use]
    pub fn definition_digest(&self) -> Option<&[u8; 32]> {
        self.tool.as_ref().map(ProvidedTool::digest)
    }

    /// The provider's own tool that a compiled capability is carried out by, as it was judged: its native id and the digest of its
    /// definition. None for a foreign tool, and for what is carried out by its own name.
    #[must_use]
    pub fn carried_by(&self) -> Option<(&str, &[u8; 32])> {
        self.carrying.as_ref().map(|tool| (tool.definition().id.native.as_str(), tool.digest()))
    }

    /// The foreign tool that a call ends at, whether it is called or carries a capability out.
    pub(crate) fn ends_at(&self) -> Option<&ProvidedTool> {
        self.tool.as_ref().or(self.carrying.as_ref())
    }

    /// The foreign tool's number in records; none for a compiled capability.
    #[must_use]
    pub fn tag(&self) -> Option<ToolTag> {
        self.tool.as_ref().map(|tool| ToolTag::of(self.provider_type, &tool.definition().id))
    }

    /// Whether two decisions are about the same tool of the same provider in the same definition, spoken with by the same one's
    /// credential.
    #[must_use]
    pub fn is_of_the_same(&self, other: &Self) -> bool {
        (self.capability, self.version, self.provider_type) == (other.capability, other.version, other.provider_type)
            && self.provider_id == other.provider_id
            && self.native_id == other.native_id
            && self.credential == other.credential
            && self.definition_digest() == other.definition_digest()
            && self.carried_by() == other.carried_by()
    }

    /// Whether calls of it wait for one another: everything that may change something, and everything of which that is not
    /// known.
    #[must_use]
    pub const fn is_serial(&self) -> bool {
        matches!(self.class.side_effect, crate::contract::SideEffect::Mutating)
    }

    /// Whether the body runs elsewhere than under this host's own runner.
    pub(crate) const fn runs_elsewhere(&self) -> bool {
        self.tool.is_none() && !matches!(self.provider_type, ProviderType::Compiled)
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

/// Whether a capability reaches nothing but what this host itself keeps.
fn works_on_own_stores(capability: &Capability) -> bool {
    let own = |family| matches!(family, HandleFamily::Context | HandleFamily::Clock | HandleFamily::Journal);
    capability.holds(HandleFamily::Journal) && capability.handles().iter().all(|kind| own(kind.family()))
}
