//! A provider elsewhere that is in this very process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::remote::locked;
use super::{
    Credential, DynamicTools, ProviderDecision, ProviderReach, ProviderState, ProviderType, RemoteProvider, Unbound,
    Whose,
};
use crate::call::Call;
use crate::executor::BodyEnd;
use crate::failure::Failure;
use crate::future::BoxFuture;
use crate::handle::{BrokerFault, ToolReply};
use crate::registry::Registry;
use crate::session::SessionId;

/// What carries out a compiled capability at an edge in memory.
type CarryOut = dyn Fn(&str, &Value) -> Result<Value, Failure> + Send + Sync;

/// What a tool of an edge in memory answers, by its native id.
type Answer = dyn Fn(&str, &Value) -> Result<ToolReply, BrokerFault> + Send + Sync;

/// A provider elsewhere that is in this very process, with a switch that takes it offline: for tests, and the measure of what
/// a transport has to do.
pub struct InMemoryEdge {
    held: Arc<Mutex<Held>>,
    carry_out: Arc<CarryOut>,
    answer: Arc<Answer>,
}

struct Held {
    state: ProviderState,
    revision: u64,
}

impl InMemoryEdge {
    /// One of that name, which carries out these capabilities; for one session, or for every one. It is online.
    #[must_use]
    pub fn new(kind: ProviderType, id: &str, session: Option<SessionId>, carries_out: &[&str]) -> Self {
        let state = ProviderState {
            id: id.into(),
            kind,
            reach: ProviderReach::Ready,
            whose: session.map_or(Whose::Everybody, Whose::Session),
            credential: Credential::Everybodys,
            tools: Vec::new(),
            carries_out: carries_out.iter().map(|name| (*name).into()).collect(),
        };
        Self {
            held: Arc::new(Mutex::new(Held { state, revision: 1 })),
            carry_out: Arc::new(|_, _| Err(Failure::before_effect())),
            answer: Arc::new(|_, _| Err(BrokerFault::Unavailable)),
        }
    }

    /// The same, carrying out compiled capabilities so: by name, from their canonical arguments.
    #[must_use]
    pub fn carrying_out(
        mut self,
        carry_out: impl Fn(&str, &Value) -> Result<Value, Failure> + Send + Sync + 'static,
    ) -> Self {
        self.carry_out = Arc::new(carry_out);
        self
    }

    /// The same, answering calls of its own tools so: by native id.
    #[must_use]
    pub fn answering(
        mut self,
        answer: impl Fn(&str, &Value) -> Result<ToolReply, BrokerFault> + Send + Sync + 'static,
    ) -> Self {
        self.answer = Arc::new(answer);
        self
    }

    fn change(&self, change: impl FnOnce(&mut ProviderState)) {
        let mut held = locked(&self.held);
        change(&mut held.state);
        held.revision += 1;
    }

    /// Takes it offline, or back.
    pub fn set_online(&self, online: bool) {
        let reach = if online { ProviderReach::Ready } else { ProviderReach::Offline("it is switched off") };
        self.change(|state| state.reach = reach);
    }

    /// Declares the tools that it has of its own, in place of those it had, and says which of them are not bound and why.
    pub fn advertise(&self, tools: DynamicTools, registry: &Registry) -> BTreeMap<String, Unbound> {
        let id = Arc::clone(&locked(&self.held).state.id);
        let (tools, unbound) = tools.accepted(&id, registry);
        self.change(|state| state.tools = tools);
        unbound
    }
}

impl RemoteProvider for InMemoryEdge {
    fn state(&self) -> ProviderState {
        locked(&self.held).state.clone()
    }

    fn revision(&self) -> u64 {
        locked(&self.held).revision
    }

    fn carry_out(&self, decision: &Arc<ProviderDecision>, arguments: &[u8], _: Call) -> BoxFuture<'static, BodyEnd> {
        let state = self.state();
        let name = decision.capability.as_str();
        let end = match serde_json::from_slice(arguments) {
            _ if !state.reach.is_there() || !state.carries_out.iter().any(|own| *own.capability == *name) => {
                BodyEnd::Failed(Failure::public("the provider cannot be reached").and_before_effect())
            }
            Err(_) => BodyEnd::Failed(Failure::before_effect()),
            Ok(arguments) => match (self.carry_out)(name, &arguments) {
                Ok(result) => BodyEnd::Result(result.to_string().into_bytes()),
                Err(failure) => BodyEnd::Failed(failure),
            },
        };
        Box::pin(core::future::ready(end))
    }

    fn call_tool(
        &self,
        decision: &Arc<ProviderDecision>,
        arguments: &[u8],
    ) -> BoxFuture<'static, Result<ToolReply, BrokerFault>> {
        let state = self.state();
        let own = state.tools.iter().find(|tool| *tool.definition().id.native == *decision.native_id);
        let reply = match (own, serde_json::from_slice(arguments)) {
            _ if !state.reach.is_there() => Err(BrokerFault::Unavailable),
            (Some(own), Ok(arguments)) if Some(own.digest()) == decision.definition_digest() => {
                (self.answer)(&decision.native_id, &arguments)
            }
            (Some(_), Err(_)) => Err(BrokerFault::MalformedReply),
            _ => Err(BrokerFault::DefinitionChanged),
        };
        Box::pin(core::future::ready(reply))
    }
}
