//! What the host knows of its providers at one moment.

use std::sync::Arc;

use super::{DefinitionFault, ProviderType, ToolDefinition};
use crate::contract::{CapabilityName, Class};
use crate::session::SessionId;

/// Whether a provider can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderReach {
    /// It can.
    Ready,
    /// It can, and something about it does not work as it should: the last discovery failed, say. In words of ours.
    Degraded(&'static str),
    /// It is configured, and nobody has connected it in this host yet.
    NotConnected,
    /// It cannot be reached. In words of ours.
    Offline(&'static str),
}

/// Where one foreign tool stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Its definition is the one that was seen first, or that an operator accepted.
    Accepted,
    /// Its definition differs from the accepted one: it is out of use until an operator accepts the difference.
    Changed,
    /// Its definition is not taken.
    Faulty(DefinitionFault),
}

/// One tool that a provider has.
#[derive(Debug, Clone)]
pub struct ProvidedTool {
    /// What the provider says about it; for a changed one what was accepted.
    pub definition: Arc<ToolDefinition>,
    /// [`ToolDefinition::digest`] of it.
    pub digest: [u8; 32],
    /// Where it stands.
    pub standing: Standing,
    /// The class that an operator's configuration gives this very definition.
    pub classified: Option<Class>,
}

/// One provider.
#[derive(Debug, Clone)]
pub struct ProviderState {
    /// The configured connection's name: `[a-z][a-z0-9_-]*`, at most 32 bytes.
    pub id: Arc<str>,
    /// Of which kind.
    pub kind: ProviderType,
    /// Whether it can be reached.
    pub reach: ProviderReach,
    /// The only session it serves; every session when there is none.
    pub session: Option<SessionId>,
    /// Its own tools, in its own order.
    pub tools: Vec<ProvidedTool>,
    /// The compiled capabilities that it carries out in this host's place.
    pub carries_out: Vec<CapabilityName>,
}

/// All providers at one moment, by name.
#[derive(Debug, Clone, Default)]
pub struct ProviderSnapshot {
    /// Grows with every change: equal revisions of one host are equal snapshots.
    pub revision: u64,
    /// Sorted by kind and name.
    pub providers: Vec<ProviderState>,
}

/// Tells an executor which providers there are. The host implements it.
pub trait Providers: Send + Sync + 'static {
    /// What is known now.
    fn snapshot(&self) -> Arc<ProviderSnapshot>;
}

/// A host that has only what is compiled into it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProviders;

impl Providers for NoProviders {
    fn snapshot(&self) -> Arc<ProviderSnapshot> {
        static NONE: std::sync::OnceLock<Arc<ProviderSnapshot>> = std::sync::OnceLock::new();
        Arc::clone(NONE.get_or_init(Arc::default))
    }
}
