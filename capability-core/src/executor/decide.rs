//! Who carries out a call: the decision that every door takes, of the providers at this moment.

use std::sync::Arc;

use super::Inner;
use super::invocation::Course;
use crate::arguments::Validators;
use crate::code::Code;
use crate::contract::schema::TOOL;
use crate::contract::{Capability, Class};
use crate::provider::decide::{self, Named};
use crate::provider::{AdmissionStatus, ProviderDecision};
use crate::registry::Registered;
use crate::session::SessionId;

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

    /// Whether some provider says to carry out a capability for this session.
    pub(super) fn is_carried_out(&self, name: &str, session: SessionId) -> bool {
        self.provided && self.providers.snapshot().carriers(name, session).next().is_some()
    }

    /// Whether a decision that a call ran under is still the one that would be made: a provider that has gone away meanwhile,
    /// lost the tool or changed it delivers nothing.
    pub(super) fn still_holds(
        &self,
        decision: &ProviderDecision,
        held: &Registered,
        arguments: &[u8],
        session: SessionId,
    ) -> bool {
        match self.decided(held, arguments, session) {
            Ok(Some(now)) => now.admission_status == AdmissionStatus::Ready && now.is_of_the_same(decision),
            Ok(None) | Err(_) => false,
        }
    }
}

impl Course {
    /// The class that counts: the entry's own, or the one that the decision says.
    pub(super) fn class(&self, entry: &Capability) -> Class {
        self.decided.as_ref().map_or(entry.class(), |decision| decision.class)
    }
}
