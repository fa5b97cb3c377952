//! Edges and relays: who carries out capabilities of this build beside this host.
//!
//! The configuration says who they are and what each may carry out at most. How one is reached is its transport's; one that
//! nobody has attached is known, and not connected.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capability_core::BoxFuture;
use capability_core::executor::BodyEnd;
use capability_core::{Call, Failure};

use capability_core::handle::{BrokerFault, ToolReply};
use capability_core::provider::{
    Carries, Credential, ProviderDecision, ProviderReach, ProviderState, ProviderType, Providers, RemoteProvider,
    RemoteProviders,
};
use capability_core::session::SessionIdentity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Config, EdgeTable};
use crate::data_dir::{DataDirError, check_dir, create_dir, read_private, write_private};

/// Every edge and relay of a host.
pub struct HostEdges {
    remotes: Arc<RemoteProviders>,
    edges: BTreeMap<String, Arc<Edge>>,
    /// Where the switches lie, a small file for each that was ever set.
    switches: PathBuf,
}

/// One configured edge, with whatever is attached to it.
struct Edge {
    name: Arc<str>,
    kind: ProviderType,
    carries_out: Vec<Box<str>>,
    held: Mutex<Held>,
}

struct Held {
    switch: Switch,
    transport: Option<Arc<dyn RemoteProvider>>,
    /// Grows with the switch and with what is attached, and never falls behind what was told before.
    changes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
    /// Its file is not what was written: counts as off.
    Damaged,
}

/// One edge or relay as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeTold {
    /// Its configured name.
    pub name: String,
    /// `edge` or `relay`.
    pub kind: String,
    /// Whether an operator has it switched on.
    pub on: bool,
    /// `ready`, `degraded`, `not_connected` or `offline`.
    pub state: String,
    /// Why it is not ready, in words of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What it may carry out.
    pub carries_out: Vec<String>,
    /// How many tools it has of its own.
    pub tools: usize,
}

impl HostEdges {
    /// The configured ones, beside the other providers of the host. What each switch was set to before holds.
    ///
    /// # Errors
    /// When the directory of the switches is not the host's alone.
    pub fn open(config: &Config, switches: PathBuf, beside: Arc<dyn Providers>) -> Result<Self, DataDirError> {
        let remotes = Arc::new(RemoteProviders::beside(beside));
        remotes.set_fallback(config.fallback_rules());
        config.explicit_bindings().into_iter().for_each(|binding| remotes.bind(binding));
        let tables = config.edge_tables();
        if !tables.is_empty() {
            if std::fs::symlink_metadata(&switches).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
                create_dir(&switches).map_err(DataDirError::io("make", &switches))?;
            }
            check_dir(&switches)?;
        }
        let mut edges = BTreeMap::new();
        for (name, EdgeTable { kind, carries_out }) in tables {
            let switch = match read_private(&switches.join(name)) {
                Ok(None) => Switch::On,
                Ok(Some(bytes)) if bytes == b"on\n" => Switch::On,
                Ok(Some(bytes)) if bytes == b"off\n" => Switch::Off,
                Ok(Some(_)) | Err(_) => Switch::Damaged,
            };
            let edge = Arc::new(Edge {
                name: name.as_str().into(),
                kind: (*kind).into(),
                carries_out: carries_out.iter().map(|name| name.as_str().into()).collect(),
                held: Mutex::new(Held { switch, transport: None, changes: 1 }),
            });
            remotes.add(Arc::clone(&edge) as _);
            edges.insert(name.clone(), edge);
        }
        Ok(Self { remotes, edges, switches })
    }

    /// All providers of the host, these among them.
    #[must_use]
    pub fn providers(&self) -> Arc<RemoteProviders> {
        Arc::clone(&self.remotes)
    }

    /// Whether any of that kind is configured.
    #[must_use]
    pub fn has_kind(&self, kind: ProviderType) -> bool {
        self.edges.values().any(|edge| edge.kind == kind)
    }

    /// Which kind the edge of that name is; none without such an edge.
    #[must_use]
    pub fn kind_of(&self, name: &str) -> Option<ProviderType> {
        Some(self.edges.get(name)?.kind)
    }

    /// Attaches the way to a configured edge, in place of the one it had. Whether there is an edge of that name and kind.
    #[must_use]
    pub fn attach(&self, transport: Arc<dyn RemoteProvider>) -> bool {
        let state = transport.state();
        let Some(edge) = self.edges.get(&*state.id).filter(|edge| edge.kind == state.kind) else { return false };
        edge.change(|held| held.transport = Some(transport));
        true
    }

    /// Takes away whatever leads to an edge: it is known, and not connected.
    pub fn detach(&self, name: &str) {
        if let Some(edge) = self.edges.get(name) {
            edge.change(|held| held.transport = None);
        }
    }

    /// Switches an edge on or off, for this host and the next ones. Whether there is such an edge.
    ///
    /// # Errors
    /// When the switch cannot be written; nothing has changed then.
    pub fn switch(&self, name: &str, on: bool) -> Result<bool, DataDirError> {
        let Some(edge) = self.edges.get(name) else { return Ok(false) };
        write_private(&self.switches.join(name), if on { b"on\n" } else { b"off\n" })?;
        edge.change(|held| held.switch = if on { Switch::On } else { Switch::Off });
        Ok(true)
    }

    /// Calls the tool that a decision names; none for a tool of a provider that is not among these.
    #[must_use]
    pub fn call_tool(
        &self,
        decision: &Arc<ProviderDecision>,
        arguments: &[u8],
        who: &SessionIdentity,
    ) -> Option<BoxFuture<'static, Result<ToolReply, BrokerFault>>> {
        self.remotes.call_tool(decision, arguments, who)
    }

    /// Every edge as an operator sees it.
    #[must_use]
    pub fn told(&self) -> Vec<EdgeTold> {
        self.edges.values().map(|edge| edge.told()).collect()
    }
}

impl Edge {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Held)) {
        let mut held = self.held();
        // What is attached counts too, and goes: the sum never falls.
        held.changes += 1 + held.transport.as_ref().map_or(0, |transport| transport.revision());
        change(&mut held);
    }

    fn transport(&self) -> Option<Arc<dyn RemoteProvider>> {
        let held = self.held();
        held.transport.clone().filter(|_| held.switch == Switch::On)
    }

    fn told(&self) -> EdgeTold {
        let state = self.state();
        EdgeTold {
            name: self.name.to_string(),
            kind: self.kind.as_str().to_owned(),
            on: self.held().switch == Switch::On,
            state: state.reach.as_str().to_owned(),
            why: state.reach.why().map(str::to_owned),
            carries_out: self.carries_out.iter().map(|name| name.to_string()).collect(),
            tools: state.tools.len(),
        }
    }
}

impl RemoteProvider for Edge {
    fn state(&self) -> ProviderState {
        let (switch, transport) = {
            let held = self.held();
            (held.switch, held.transport.clone())
        };
        let attached = transport.as_ref().map(|transport| transport.state());
        let reach = match (switch, &attached) {
            (Switch::Off, _) => ProviderReach::Offline("an operator has switched it off"),
            (Switch::Damaged, _) => ProviderReach::Offline("its switch cannot be read, so it counts as off"),
            (Switch::On, None) => ProviderReach::NotConnected,
            (Switch::On, Some(attached)) => attached.reach,
        };
        // What may be carried out is the operator's to say, and whoever is attached may do less.
        let does = |name: &str| {
            let mut own = attached.iter().flat_map(|attached| &attached.carries_out);
            attached.is_none() || own.any(|own| *own.capability == *name)
        };
        ProviderState {
            id: Arc::clone(&self.name),
            kind: self.kind,
            reach,
            whose: attached.as_ref().map(|attached| attached.whose.clone()).unwrap_or_default(),
            credential: Credential::Everybodys,
            carries_out: self.carries_out.iter().filter(|name| does(name)).map(|name| Carries::from(&**name)).collect(),
            tools: attached.map(|attached| attached.tools).unwrap_or_default(),
        }
    }

    fn revision(&self) -> u64 {
        let held = self.held();
        held.changes + held.transport.as_ref().map_or(0, |transport| transport.revision())
    }

    fn carry_out(&self, decision: &Arc<ProviderDecision>, arguments: &[u8], call: Call) -> BoxFuture<'static, BodyEnd> {
        let may = self.carries_out.iter().any(|name| **name == *decision.capability.as_str());
        match self.transport().filter(|_| may) {
            Some(transport) => transport.carry_out(decision, arguments, call),
            None => {
                let gone = Failure::public("the provider cannot be reached").and_before_effect();
                Box::pin(core::future::ready(BodyEnd::Failed(gone)))
            }
        }
    }

    fn call_tool(
        &self,
        decision: &Arc<ProviderDecision>,
        arguments: &[u8],
    ) -> BoxFuture<'static, Result<ToolReply, BrokerFault>> {
        match self.transport() {
            Some(transport) => transport.call_tool(decision, arguments),
            None => Box::pin(core::future::ready(Err(BrokerFault::Unavailable))),
        }
    }
}

impl core::fmt::Debug for HostEdges {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HostEdges({})", self.edges.len())
    }
}
