//! Who executes: one value from which both the visible tool and the executed call come.
//!
//! A capability is compiled into the build; who carries out a call of it is decided for every session from the providers that
//! the host knows at that moment. Whoever lists tools and whoever runs one holds a [`ProviderDecision`]: there is no other list.
//! Source: the capability system's contract, "Decision shape", "Provider priority", "Admission states" and "Routes".
//!
//! | type | what it is |
//! |---|---|
//! | [`ToolDefinition`] | what a provider says about one of its tools: claims, and a digest over all of them |
//! | [`ProviderState`] | what the host knows of one provider at one moment |
//! | [`ProviderSnapshot`] | all of them: what decisions are made from |
//! | [`ProviderDecision`] | what became of one tool for one session |
//! | [`Decisions`] | what became of all of them, in the order in which they are shown |
//! | [`Diagnostic`] | why a tool cannot be called, in one of seven ways |

pub(crate) mod decide;
mod decision;
mod decisions;
mod definition;
mod diagnostic;
mod dynamic;
mod fallback;
mod foreign;
mod health;
mod memory;
mod remote;
mod snapshot;
mod tool;

pub use decision::{AdmissionStatus, FallbackPolicy, ProviderDecision, ProviderType, Route, RuntimeBindingStatus};
pub use decisions::Decisions;
pub use definition::{Claims, DefinitionFault, MAX_DEFINITION_BYTES, ToolDefinition, ToolId, ToolTag};
pub use diagnostic::Diagnostic;
pub use dynamic::{DynamicContract, DynamicTools, Unbound};
pub use fallback::FallbackRules;
pub use foreign::ForeignArguments;
pub(crate) use foreign::any_json;
pub use health::{
    EVIDENCE_SECONDS, FAILING_AFTER, GUIDANCE, HealthKey, HealthParts, HealthStore, HealthWatch, MemoryHealth,
    ToolHealth,
};
pub use memory::InMemoryEdge;
pub use remote::{RemoteProvider, RemoteProviders};
pub use snapshot::{
    Carries, Credential, ExplicitBinding, NoProviders, ProviderFact, ProviderReach, ProviderSnapshot, ProviderState,
    Providers, Whose,
};
pub use tool::{ProvidedTool, Standing, is_native_id};
