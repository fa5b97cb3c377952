//! Who carries out a call: the decision that every door takes, of the providers at this moment.

use std::sync::Arc;

use super::Inner;
use super::invocation::Course;
use super::outcome::Refusal;
use crate::arguments::{Validators, nearest};
use crate::code::Code;
use crate::contract::schema::TOOL;
use crate::contract::{Capability, Class};
use crate::provider::ProviderDecision;
use crate::provider::decide::{self, Named};
use crate::registry::Registered;
#[cfg(feature = "analysis")]
use crate::session::{Mode, Origin, SessionId, Subject, TurnId};
use crate::session::{Session, SessionIdentity};

impl Inner {
    /// The decision about one call; none where it is the one that the registry keeps. The arguments are looked at for an entry
    /// whose calls go through, and only for what they name.
    ///
    /// # Errors
    /// [`Code::UnknownTool`] and [`Code::UnsupportedCapability`].
    pub(super) fn decided(
        &self,
        held: &Registered,
        arguments: &[u8],
        who: &SessionIdentity,
    ) -> Result<Option<Arc<ProviderDecision>>, Code> {
        let entry = held.entry();
        let bound = self.binds(entry);
        let Some(kind) = held.through() else {
            let elsewhere = if self.provided {
                decide::of_compiled(entry, bound, &self.providers.snapshot_for(who), who)
            } else {
                None
            };
            return Ok(elsewhere.map(Arc::new).or_else(|| if bound { None } else { Some(held.unserved()) }));
        };
        let peeked = Validators::peek(arguments, [entry.scope().unwrap_or_default(), TOOL]);
        let named = match &peeked {
            Some([Some(provider), Some(tool)]) => Some(Named { provider, tool }),
            _ => None,
        };
        let snapshot = self.providers.snapshot_for(who);
        decide::of_tool(entry, kind, bound, named, &snapshot, who).map(|decision| Some(Arc::new(decision)))
    }

    /// What stands against every call of an entry because of whoever would carry it out, by the decision that a call of this
    /// subject would take in a session without providers of its own.
    #[cfg(feature = "analysis")]
    pub(super) fn provider_fault(&self, held: &Registered, subject: &Subject) -> Option<Code> {
        if !self.provided || !self.binds(held.entry()) {
            return None;
        }
        let nobody = SessionIdentity {
            id: SessionId::from_bytes([0; 16]),
            subject: subject.clone(),
            mode: Mode::Live,
            origin: Origin::Model,
            turn: TurnId(0),
        };
        let snapshot = self.providers.snapshot_for(&nobody);
        let Some(kind) = held.through() else {
            return decide::of_compiled(held.entry(), true, &snapshot, &nobody)?.code();
        };
        let mut own = snapshot.own(&nobody).filter(|state| state.kind == kind).peekable();
        if own.peek().is_none() {
            return Some(Code::UnsupportedCapability);
        }
        (!own.any(|state| state.reach.is_there())).then_some(Code::ProviderOffline)
    }

    /// What is told of a tool that there is not: with the nearest one of that provider that the session declares, if one is near. What it
    /// does not declare it is not told of.
    pub(super) fn unknown_tool(&self, held: &Registered, arguments: &[u8], session: &Session) -> Refusal {
        let refusal = Refusal::from(Code::UnknownTool);
        let (entry, who) = (held.entry(), session.identity());
        let peeked = Validators::peek(arguments, [entry.scope().unwrap_or_default(), TOOL]);
        let (Some(kind), Some([Some(provider), Some(tool)])) = (held.through(), &peeked) else { return refusal };
        let snapshot = self.providers.snapshot_for(who);
        let Some(state) = snapshot.provider(kind, provider, who) else { return refusal };
        let natives = state.tools.iter().map(|tool| tool.definition().id.native.as_str());
        // Foreign text goes on only where it reads as a name.
        let plain = |native: &&str| native.bytes().all(|b| b.is_ascii_graphic() && b != b'`');
        let own = natives.filter(plain).filter(|native| session.declares_tool(entry.name().as_str(), provider, native));
        match nearest(tool, own) {
            Some(near) => Refusal { help: format!("`{near}` is one that it has").into(), ..refusal },
            None => refusal,
        }
    }

    /// Whether some provider says to carry out a capability for whoever this is.
    pub(super) fn is_carried_out(&self, name: &str, who: &SessionIdentity) -> bool {
        self.provided && self.providers.snapshot_for(who).carriers(name, who).next().is_some()
    }

    /// Whether the provider that a call was decided for may still deliver: one that has gone away meanwhile, lost the tool or
    /// changed it delivers nothing.
    pub(super) fn may_deliver(&self, decision: &ProviderDecision, who: &SessionIdentity) -> bool {
        decide::delivers(decision, &self.providers.snapshot_for(who), who)
    }
}

impl Course {
    /// The class that counts: the entry's own, or the one that the decision says.
    pub(super) fn class(&self, entry: &Capability) -> Class {
        self.decided.as_ref().map_or(entry.class(), |decision| decision.class)
    }
}
