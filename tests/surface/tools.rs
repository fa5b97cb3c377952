//! Decisions as a host might have them.

use capability_core::Capability;
use capability_core::Executor;
use capability_core::provider::{
    AdmissionStatus, Claims, Credential, ProvidedTool, ProviderDecision, ProviderReach, ProviderState, ProviderType,
    ToolDefinition, ToolId, Whose,
};
use capability_core::surface::{Surface, SurfaceOptions};
use serde_json::{Value, json};

/// The decision about a compiled capability.
pub fn compiled(entry: &'static Capability) -> ProviderDecision {
    ProviderDecision::compiled(entry, true)
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
    let state = ProviderState {
        id: definition.id.provider.as_str().into(),
        kind: ProviderType::Mcp,
        reach: ProviderReach::Ready,
        whose: Whose::Everybody,
        credential: Credential::Everybodys,
        tools: Vec::new(),
        carries_out: Vec::new(),
    };
    let mut decision = ProviderDecision::of_provided(through, &state, &ProvidedTool::new(definition));
    // Also of definitions that no executor would take.
    decision.admission_status = AdmissionStatus::Ready;
    decision.user_visible_message = None;
    decision
}

/// A decision in another state.
pub fn in_state(decision: ProviderDecision, admission_status: AdmissionStatus) -> ProviderDecision {
    let mut decision = decision;
    decision.user_visible_message = Some(format!("it is {admission_status:?}").into());
    decision.admission_status = admission_status;
    decision
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
