//! What of a server is told to those who decide: for whom it is there, with what, and what is remembered of it.

use std::sync::Arc;

use capability_core::Failure;
use capability_core::executor::BodyEnd;
use capability_core::handle::{BrokerFault, ToolReply};
use capability_core::provider::{
    Carries, ProvidedTool, ProviderDecision, ProviderReach, ProviderState, ProviderType, Standing, Whose,
};

use super::super::pins::{Pin, PinChange};
use super::super::settings::Scope;
use super::super::told::{ServerTold, ToolTold};
use super::{Reach, Server};

/// Why a provider that carries out capabilities may not.
const CANNOT: &str = "a tool that is to carry out a capability is not there, or out of use";

impl Server {
    /// Whether each tool that is to carry out a capability is there, and what was accepted.
    fn can_carry_out(&self, tools: &[ProvidedTool]) -> bool {
        self.settings().carries_out.values().all(|wanted| accepted(tools, wanted).is_some())
    }

    /// Carries a capability out by the very tool that the decision says, with exactly these arguments: what is sent is what was
    /// judged. What it answers as data is the result.
    pub(in crate::provider) async fn carry_out(&self, decision: &ProviderDecision, arguments: &[u8]) -> BodyEnd {
        let wanted = self.settings().carries_out.get(decision.capability.as_str());
        let judged = decision.carried_by().filter(|(native, _)| wanted.is_some_and(|wanted| wanted == native));
        let Some((native, judged)) = judged else {
            return BodyEnd::Failed(Failure::public("the provider does not carry it out").and_before_effect());
        };
        match self.called(native, judged, true, arguments).await {
            Ok(ToolReply { is_error: false, structured: Some(result), .. }) => {
                BodyEnd::Result(result.to_string().into_bytes())
            }
            Ok(ToolReply { is_error: true, .. }) => BodyEnd::Failed(Failure::public("the provider's tool failed")),
            Ok(ToolReply { .. }) => BodyEnd::Failed(Failure::public("the provider's tool answered without data")),
            Err(fault @ BrokerFault::DefinitionChanged) => BodyEnd::Failed(fault.into_public().and_before_effect()),
            Err(fault) => BodyEnd::Failed(fault.into_public()),
        }
    }

    /// Whether it is one that somebody can call: what is configured for sessions alone stands there for operators to see.
    fn is_offered(&self) -> bool {
        self.settings().scope == Scope::Host || matches!(self.whose, Whose::Session(_))
    }

    /// Puts what is known of this server into the snapshot that decisions are made from.
    pub(in crate::provider) fn publish(&self) {
        if self.is_offered() {
            self.shared().put(&self.common.name, &self.whose, || (!self.gone.is_cancelled()).then(|| self.snapshot()));
        }
    }

    /// It is there for nobody any more, and what it is doing ends.
    pub(in crate::provider) fn retract(&self) {
        self.gone.cancel();
        self.shared().put(&self.common.name, &self.whose, || None);
    }

    /// What is remembered of it is this from now on, for everybody of the same credential.
    pub(super) fn remember(&self, pins: &[Pin]) {
        for server in self.shared().members(self.number) {
            let mut state = server.state();
            state.pins = pins.to_vec();
            state.settle(&server.settings().classes);
        }
    }

    /// The same, put before everybody else.
    pub(super) fn publish_siblings(&self) {
        let siblings = self.shared().members(self.number).into_iter();
        siblings.filter(|server| server.whose != self.whose).for_each(|server| server.publish());
    }

    /// Another token than the one that its list was read with, or is being read with: what it has is read again before anything
    /// of it is called, and what failed is tried again.
    pub(in crate::provider) fn doubt(&self) {
        let reach = {
            let mut state = self.state();
            state.token += 1;
            if matches!(state.reach, Reach::Offline(..)) {
                state.reach = Reach::NotConnected;
            }
            state.reach.clone()
        };
        if let Reach::Connected(connection) = reach {
            connection.peer.forget();
            connection.doubted.notify_one();
        }
        self.publish();
    }

    pub(in crate::provider) fn changes(&self) -> Vec<PinChange> {
        let changed = |pin: &Pin| {
            let now = Arc::clone(pin.seen.as_ref().unwrap_or(&pin.accepted));
            PinChange { accepted: Arc::clone(&pin.accepted), now, moved: pin.moved }
        };
        self.state().pins.iter().filter(|pin| pin.is_changed()).map(changed).collect()
    }

    pub(in crate::provider) fn told(&self) -> ServerTold {
        ServerTold::of(&self.snapshot(), self.settings(), matches!(self.reach(), Reach::Connecting))
    }

    pub(in crate::provider) fn tools_told(&self) -> Vec<ToolTold> {
        let tools = self.snapshot().tools;
        let state = self.state();
        tools.iter().map(|tool| ToolTold::of(tool, &state.pins, &self.settings().classes)).collect()
    }

    pub(in crate::provider) async fn said(&self) -> Option<String> {
        let connection = self.connection()?;
        let running = connection.running.lock().await;
        let said = running.as_ref()?.said().await;
        Some(self.common.given.redactor().text(&said).into_owned())
    }

    pub(super) fn snapshot(&self) -> ProviderState {
        let state = self.state();
        let reach = match &state.reach {
            Reach::NotConnected | Reach::Connecting => ProviderReach::NotConnected,
            Reach::Offline(why, _) => ProviderReach::Offline(why),
            Reach::Connected(connection) => match connection.listed().reach(state.token) {
                ProviderReach::Ready if !self.can_carry_out(&state.tools) => ProviderReach::Degraded(CANNOT),
                reach => reach,
            },
        };
        ProviderState {
            id: Arc::clone(&self.common.name),
            kind: ProviderType::Mcp,
            reach,
            whose: self.whose.clone(),
            credential: self.credential(),
            tools: state.tools.clone(),
            carries_out: self.settings().carries_out.iter().map(carries).collect(),
        }
    }
}

fn carries((capability, native): (&String, &String)) -> Carries {
    Carries { capability: capability.as_str().into(), by: Some(native.as_str().into()) }
}

/// The tool of that name, while it is what was accepted.
fn accepted<'t>(tools: &'t [ProvidedTool], native: &str) -> Option<&'t ProvidedTool> {
    tools.iter().find(|tool| tool.definition().id.native == native && tool.standing() == Standing::Accepted)
}
