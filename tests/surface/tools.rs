//! Decisions as a host might have them.

use std::borrow::Cow;
use std::sync::Arc;

use capability_core::Capability;
use capability_core::Executor;
use capability_core::contract::{Class, Network, SideEffect};
use capability_core::provider::{
    AdmissionStatus, Claims, FallbackPolicy, ProviderDecision, ProviderType, Route, RuntimeBindingStatus,
    ToolDefinition, ToolId,
};
use capability_core::surface::{Surface, SurfaceOptions};
use serde_json::{Value, json};

/// The decision about a compiled capability.
pub fn compiled(entry: &'static Capability) -> ProviderDecision {
    ProviderDecision {
        capability: entry.name(),
        version: entry.version(),
        tool_name: Cow::Borrowed(entry.name().as_str()),
        provider_type: ProviderType::Compiled,
        provider_id: Cow::Borrowed("compiled"),
        native_id: Cow::Borrowed(entry.name().as_str()),
        class: entry.class(),
        definition: None,
        execution_owner: Cow::Borrowed("host"),
        route: Route::ServerRuntime,
        admission_status: AdmissionStatus::Ready,
        runtime_binding_status: RuntimeBindingStatus::Bound,
        fallback_policy: FallbackPolicy::Never,
        fallback_from: None,
        degraded_reason: None,
        offline_reason: None,
        user_visible_message: None,
        trace_fields: Cow::Borrowed(&[]),
    }
}

/// The decisions about everything in a registry.
pub fn all(executor: &Executor) -> Vec<ProviderDecision> {
    executor.registry().iter().map(|held| compiled(held.entry())).collect()
}

/// What an MCP server says about one of its tools.
pub fn definition(server: &str, native: &str, description: &str) -> ToolDefinition {
    ToolDefinition {
        id: ToolId { provider: server.to_owned(), native: native.to_owned() },
        title: None,
        description: description.to_owned(),
        input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        output_schema: None,
        claims: Claims::default(),
    }
}

/// The decision about a tool of an MCP server.
pub fn provided(through: &'static Capability, definition: ToolDefinition) -> ProviderDecision {
    ProviderDecision {
        provider_type: ProviderType::Mcp,
        provider_id: definition.id.provider.clone().into(),
        native_id: definition.id.native.clone().into(),
        class: Class::new(SideEffect::Mutating, Network::External),
        definition: Some(Arc::new(definition)),
        route: Route::RequestScopedMcp,
        ..compiled(through)
    }
}

/// A decision in another state.
pub fn in_state(decision: ProviderDecision, admission_status: AdmissionStatus) -> ProviderDecision {
    let message = format!("it is {admission_status:?}");
    ProviderDecision { admission_status, user_visible_message: Some(message.into()), ..decision }
}

/// A surface with these pinned.
pub fn surface(executor: &Executor, decisions: &[ProviderDecision], pinned: &[&str]) -> Surface {
    let pinned = pinned.iter().map(|name| (*name).to_owned()).collect();
    Surface::of(executor, decisions, &SurfaceOptions { pinned, ..SurfaceOptions::default() })
}

/// The names in the array, in its order.
pub fn names(surface: &Surface) -> Vec<String> {
    let array: Vec<Value> = serde_json::from_str(&surface.array()).expect("the array is JSON");
    array.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}
