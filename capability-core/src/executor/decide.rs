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
use crate::session::{Session, SessionId};

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
        session: SessionId,
    ) -> Result<Option<Arc<ProviderDecision>>, Code> {
        let entry = held.entry();
        let bound = self.binds(entry);
        let Some(kind) = held.through() else {
            let elsewhere = if self.provided {
                decide::of_compiled(entry, bound, &self.providers.snapshot(), session)
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
        let snapshot = self.providers.snapshot();
        decide::of_tool(entry, kind, bound, named, &snapshot, session).map(|decision| Some(Arc::new(decision)))
    }

    /// What stands against every call of an entry because of whoever would carry it out, by the decision that a call would take
    /// in a session without providers of its own.
    #[cfg(feature = "analysis")]
    pub(super) fn provider_fault(&self, held: &Registered) -> Option<Code> {
        let (entry, nobody) = (held.entry(), SessionId::from_bytes([0; 16]));
        if !self.provided || !self.binds(entry) {
            return None;
        }
        let snapshot = self.providers.snapshot();
        match held.through() {
            None => decide::of_compiled(entry, true, &snapshot, nobody)?.code(),
            Some(kind) if !snapshot.has(kind) => Some(Code::UnsupportedCapability),
            Some(kind) => (!snapshot.is_any_there(kind)).then_some(Code::ProviderOffline),
        }
    }

    /// What is told of a tool that there is not: with the nearest one of that provider that the session declares, if one is near. What it
    /// does not declare it is not told of.
    pub(super) fn unknown_tool(&self, held: &Registered, arguments: &[u8], session: &Session) -> Refusal {
        let refusal = Refusal::from(Code::UnknownTool);
        let (entry, id) = (held.entry(), session.identity().id);
        let peeked = Validators::peek(arguments, [entry.scope().unwrap_or_default(), TOOL]);
        let (Some(kind), Some([Some(provider), Some(tool)])) = (held.through(), &peeked) else { return refusal };
        let snapshot = self.providers.snapshot();
        let Some(state) = snapshot.provider(kind, provider, id) else { return refusal };
        let natives = state.tools.iter().map(|tool| tool.definition().id.native.as_str());
        // Foreign text goes on only where it reads as a name.
        let plain = |native: &&str| native.bytes().all(|b| b.is_ascii_graphic() && b != b'`');
        let own = natives.filter(plain).filter(|native| session.declares_tool(entry.name().as_str(), provider, native));
        match nearest(tool, own) {
            Some(near) => Refusal { help: format!("`{near}` is one that it has").into(), ..refusal },
            None => refusal,
        }
    }

    /// Whether some provider says to carry out a capability for this session.
    pub(super) fn is_carried_out(&self, name: &str, session: SessionId) -> bool {
        self.provided && self.providers.snapshot().carriers(name, session).next().is_some()
    }

    /// Whether the provider that a call was decided for may still deliver: one that has gone away meanwhile, lost the tool or
    /// changed it delivers nothing.
    pub(super) fn may_deliver(&self, decision: &ProviderDecision, session: SessionId) -> bool {
        decide::delivers(decision, &self.providers.snapshot(), session)
    }
}

impl Course {
    /// The class that counts: the entry's own, or the one that the decision says.
    pub(super) fn class(&self, entry: &Capability) -> Class {
        self.decided.as_ref().map_or(entry.class(), |decision| decision.class)
    }
}
