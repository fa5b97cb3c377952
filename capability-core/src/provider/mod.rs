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
//! | [`Diagnostic`] | why a tool cannot be called, in one of seven ways |

mod decision;
mod definition;
mod diagnostic;
mod snapshot;

pub use decision::{AdmissionStatus, FallbackPolicy, ProviderDecision, ProviderType, Route, RuntimeBindingStatus};
pub use definition::{Claims, DefinitionFault, MAX_DEFINITION_BYTES, ToolDefinition, ToolId};
pub use diagnostic::Diagnostic;
pub use snapshot::{NoProviders, ProvidedTool, ProviderReach, ProviderSnapshot, ProviderState, Providers, Standing};
