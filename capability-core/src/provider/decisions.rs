//! All decisions of one session at one moment, in the order in which they are shown.

use core::num::NonZeroU32;
use std::sync::Arc;

use hashbrown::HashMap;

use super::{ProviderDecision, ProviderFact, ProviderType};
use crate::executor::Proposal;
use crate::session::SessionId;
use crate::surface::{ToolKey, WireNames};

/// The decision about every tool that there is for one session: what it is shown, and what it may then call, both come from
/// here, and there is no other list.
///
/// First the compiled capabilities by name and version, then providers' tools by kind, provider and native id. What is
/// decided is of the moment it was made; a call is decided again when it is made.
#[derive(Debug)]
pub struct Decisions {
    session: SessionId,
    providers: u64,
    policy: [u8; 32],
    all: Vec<Arc<ProviderDecision>>,
    unready: Vec<ProviderFact>,
    names: HashMap<Box<str>, usize>,
}

impl Decisions {
    /// Of decisions in their order. What is visible is named, and by its name it is found; two that would have one name, and
    /// what nobody is shown, are not.
    pub(crate) fn new(
        session: SessionId,
        providers: u64,
        policy: [u8; 32],
        mut all: Vec<ProviderDecision>,
        unready: Vec<ProviderFact>,
    ) -> Self {
        let mut names: HashMap<Box<str>, usize> = HashMap::with_capacity(all.len());
        let visible = |decision: &&ProviderDecision| decision.is_visible();
        let wire = WireNames::assign(all.iter().filter(visible).map(ToolKey::of));
        for (at, decision) in all.iter_mut().enumerate().filter(|(_, decision)| decision.is_visible()) {
            if let Some(name) = wire.name(&ToolKey::of(decision)) {
                decision.tool_name = String::from(name.clone()).into();
                names.insert(name.as_str().into(), at);
            }
        }
        Self { session, providers, policy, all: all.into_iter().map(Arc::new).collect(), unready, names }
    }

    /// Whether whatever is made of these is the same as what is made of the others: every decision is what it is there, and so
    /// is what is known of providers that are not ready. Whose they are, and of which moment, is no part of it.
    pub(crate) fn make_the_same(&self, other: &Self) -> bool {
        self.all == other.all && self.unready == other.unready
    }

    /// Of which session.
    #[must_use]
    pub const fn session(&self) -> SessionId {
        self.session
    }

    /// The revision of the providers they were made from.
    #[must_use]
    pub const fn providers(&self) -> u64 {
        self.providers
    }

    /// The revision of the policy they were made under.
    #[must_use]
    pub const fn policy(&self) -> &[u8; 32] {
        &self.policy
    }

    /// All of them, those included that do not appear in the session's surface; see [`ProviderDecision::is_visible`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<ProviderDecision>> {
        self.all.iter()
    }

    /// The providers of the session that are not ready, by kind and name: those among them of whose tools nothing is known have
    /// no decision above.
    #[must_use]
    pub fn unready(&self) -> &[ProviderFact] {
        &self.unready
    }

    /// The tool that a model calls so, exactly.
    #[must_use]
    pub fn by_tool_name(&self, name: &str) -> Option<&Arc<ProviderDecision>> {
        self.names.get(name).and_then(|at| self.all.get(*at))
    }

    /// The compiled capability of that name and version.
    #[must_use]
    pub fn compiled(&self, name: &str, version: NonZeroU32) -> Option<&Arc<ProviderDecision>> {
        let is = |decision: &&Arc<ProviderDecision>| {
            decision.definition.is_none() && decision.capability.as_str() == name && decision.version == version
        };
        self.all.iter().find(is)
    }

    /// The tool of that provider and native id.
    #[must_use]
    pub fn provided(&self, kind: ProviderType, provider: &str, native: &str) -> Option<&Arc<ProviderDecision>> {
        let wanted = (kind, provider, native);
        let own = |decision: &Arc<ProviderDecision>| decision.definition.is_some();
        // Compiled ones come first, and the rest are in this order.
        let from = self.all.partition_point(|decision| {
            !own(decision) || (decision.provider_type, &*decision.provider_id, &*decision.native_id) < wanted
        });
        let found = self.all.get(from)?;
        let is = own(found) && (found.provider_type, &*found.provider_id, &*found.native_id) == wanted;
        is.then_some(found)
    }
}

impl ProviderDecision {
    /// The proposal that calls this tool with these arguments, as they came from whoever calls: they are looked at by the
    /// executor.
    #[must_use]
    pub fn proposal(&self, arguments: impl Into<Vec<u8>>) -> Proposal {
        let arguments = arguments.into();
        let arguments = match self.through {
            Some(scope) => self.envelope(scope, &arguments).unwrap_or(arguments),
            None => arguments,
        };
        Proposal::new(self.capability.as_str(), self.version.get(), arguments)
    }

    /// The arguments of the capability that the call goes through. None for what is no JSON text, which is then refused as it
    /// is: nothing that is written into an envelope can end it.
    fn envelope(&self, scope: &str, arguments: &[u8]) -> Option<Vec<u8>> {
        let own: &serde_json::value::RawValue = serde_json::from_slice(arguments).ok()?;
        let envelope: std::collections::BTreeMap<&str, Box<serde_json::value::RawValue>> = [
            (crate::contract::schema::ARGUMENTS, own.to_owned()),
            (scope, serde_json::value::to_raw_value(&*self.provider_id).ok()?),
            (crate::contract::schema::TOOL, serde_json::value::to_raw_value(&*self.native_id).ok()?),
        ]
        .into();
        serde_json::to_vec(&envelope).ok()
    }
}
