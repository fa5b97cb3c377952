//! For whom a handle is served, and for how long.

use core::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

use super::{Broker, HandleKind, SecretUse};
use crate::audit::InvocationId;
use crate::contract::{Capability, CapabilityName, TargetKind};
use crate::policy::PathRules;
use crate::preview::Preview;
use crate::provider::ProviderDecision;
use crate::session::{Ending, Session, SessionIdentity};

/// For whom a request is made: minted by the executor for one invocation, never by a capability. Cheap to clone; all clones
/// are one lease.
#[derive(Clone)]
pub struct Lease(Arc<Terms>);

/// What one invocation's handles are served under, its end among it: one block that everybody who has to do with the call
/// shares.
pub(crate) struct Terms {
    pub(crate) entry: &'static Capability,
    pub(crate) invocation: InvocationId,
    pub(crate) identity: Arc<SessionIdentity>,
    /// What the arguments name as the thing acted on: judged by policy and shown to whoever approves.
    pub(crate) target: Option<(TargetKind, String)>,
    /// Who serves.
    pub(crate) broker: Arc<dyn Broker>,
    /// How many bytes the result's JSON text may have.
    pub(crate) max_result: u64,
    /// The decision about a foreign tool, and the exact text of the arguments that it would be sent; boxed: few calls have it.
    pub(crate) foreign: Option<Box<Foreign>>,
    /// The session, for a body that may ask what its subject declares; none where the body runs elsewhere.
    pub(crate) asks: Option<Session>,
    pub(crate) ending: Ending,
    /// Rules that may be about paths; none where there are no rules, and where no files are lent.
    pub(crate) rules: Option<PathRules>,
    /// What the preview rests on and binds, once there is one: what a person answers for, or has answered for.
    pub(crate) shown: OnceLock<(Vec<[u8; 32]>, Vec<SecretUse>)>,
    /// Whether this is where the body runs, away from whoever keeps what was shown.
    pub(crate) elsewhere: bool,
}

/// A call that goes on to a provider.
#[derive(Clone)]
pub(crate) struct Foreign {
    pub(crate) decision: Arc<ProviderDecision>,
    pub(crate) arguments: Vec<u8>,
}

impl Lease {
    pub(crate) fn new(terms: Terms) -> Self {
        Self(Arc::new(terms))
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.0
    }

    /// The capability that was lent the handle.
    #[must_use]
    pub fn capability(&self) -> CapabilityName {
        self.0.entry.name()
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> NonZeroU32 {
        self.0.entry.version()
    }

    /// Its registry entry: the class and the handles that it was compiled with.
    #[must_use]
    pub fn entry(&self) -> &'static Capability {
        self.0.entry
    }

    /// The session that asked, for a capability that holds [`Agents`](super::Agents): what acts for it is opened for this very one.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        self.0.asks.as_ref().filter(|_| self.0.entry.holds(super::HandleFamily::Agents))
    }

    /// The invocation: what a broker counts budgets by.
    #[must_use]
    pub fn invocation(&self) -> InvocationId {
        self.0.invocation
    }

    /// Who asked.
    #[must_use]
    pub fn identity(&self) -> &SessionIdentity {
        &self.0.identity
    }

    /// What this very call was judged and approved to act on, when its capability declares a target.
    #[must_use]
    pub fn target(&self) -> Option<(TargetKind, &str)> {
        self.0.target.as_ref().map(|(kind, text)| (*kind, text.as_str()))
    }

    /// The decision that this very call was judged and approved under, with the JSON text of the arguments that go to the
    /// provider; none for a call that this host carries out by itself.
    #[must_use]
    pub fn provided(&self) -> Option<(&Arc<ProviderDecision>, &[u8])> {
        self.0.foreign.as_ref().map(|foreign| (&foreign.decision, foreign.arguments.as_slice()))
    }

    /// Whether the call's preview rests on that: what is approved holds for it and for nothing else.
    #[must_use]
    pub fn rests_on(&self, hash: &[u8; 32]) -> bool {
        self.0.shown.get().is_some_and(|(rests_on, _)| rests_on.contains(hash))
    }

    /// Whether the call's preview binds these, all of them and no more: what is approved is what is bound.
    #[must_use]
    pub fn binds(&self, secrets: &[SecretUse]) -> bool {
        secrets.is_empty() || self.0.shown.get().is_some_and(|(_, shown)| shown == secrets)
    }

    /// Keeps what the preview rests on, and which secrets it binds.
    pub(crate) fn show(&self, preview: &Preview) {
        let _ = self.0.shown.set((preview.rests_on.clone(), preview.secrets.clone()));
    }

    /// The declared handle of that family and instance, with what it allows; `None` when the entry declares none.
    #[must_use]
    pub fn declared(&self, family: super::HandleFamily, instance: &str) -> Option<&'static HandleKind> {
        self.0.entry.handles().iter().find(|kind| kind.family() == family && kind.instance() == instance)
    }

    /// The end of this lease, to be waited for: what a broker keeps open for the call is closed then.
    #[must_use]
    pub fn ending(&self) -> LeaseEnding {
        LeaseEnding(self.clone())
    }
}

impl core::fmt::Debug for Lease {
    /// Without the target, which is an argument.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Lease({} in {})", self.0.entry, self.0.invocation)
    }
}

/// The end of a lease: it comes when the body has ended, or when nobody waits for it any more.
#[derive(Clone)]
pub struct LeaseEnding(Lease);

impl LeaseEnding {
    /// Whether it has come: nothing is served under the lease any more.
    #[must_use]
    pub fn has_come(&self) -> bool {
        self.0.terms().ending.has_come()
    }

    /// Waits for it.
    pub async fn comes(&self) {
        self.0.terms().ending.comes().await;
    }
}

impl core::fmt::Debug for LeaseEnding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "LeaseEnding({})", if self.has_come() { "come" } else { "not yet" })
    }
}

/// Ends a lease when it is dropped. The executor holds it for exactly as long as somebody answers for the call.
pub(crate) struct LeaseHolder(Lease);

impl LeaseHolder {
    pub(crate) fn of(lease: &Lease) -> Self {
        Self(lease.clone())
    }
}

impl Drop for LeaseHolder {
    fn drop(&mut self) {
        self.0.terms().ending.end();
    }
}
