//! Providers elsewhere: a person's own machine, a workspace or agent behind a gateway.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Mutex as Turn;

use super::{
    ExplicitBinding, FallbackRules, ProviderDecision, ProviderSnapshot, ProviderState, ProviderType, Providers,
};
use crate::call::Call;
use crate::executor::BodyEnd;
use crate::future::{BoxFuture, Soon};
use crate::handle::{BrokerFault, ToolReply};
use crate::session::{SessionId, SessionIdentity};

/// One provider elsewhere, as the host holds it. Its transport is the implementation's.
pub trait RemoteProvider: Send + Sync + 'static {
    /// What is known of it now.
    fn state(&self) -> ProviderState;

    /// Grows with every change of [`state`](Self::state).
    fn revision(&self) -> u64;

    /// Carries out a call of a compiled capability: exactly these canonical arguments, until the call's deadline.
    fn carry_out(&self, decision: &Arc<ProviderDecision>, arguments: &[u8], call: Call) -> BoxFuture<'static, BodyEnd>;

    /// Calls one of its own tools, in the definition that the decision pins.
    fn call_tool(
        &self,
        decision: &Arc<ProviderDecision>,
        arguments: &[u8],
    ) -> BoxFuture<'static, Result<ToolReply, BrokerFault>>;
}

/// Several providers elsewhere as the executor sees them, beside those of another kind.
///
/// Calls that may change something go to one provider one after the other, and so do those of which that is not known: see
/// [`ProviderDecision::is_serial`]. What only reads waits for nobody.
pub struct RemoteProviders {
    beside: Arc<dyn Providers>,
    remotes: Mutex<Vec<Remote>>,
    chosen: Mutex<Chosen>,
    last: Mutex<Option<(u64, Arc<ProviderSnapshot>)>>,
}

#[derive(Clone)]
struct Remote {
    provider: Arc<dyn RemoteProvider>,
    /// Held by the one call that may change something there.
    turn: Arc<Turn<()>>,
}

#[derive(Default)]
struct Chosen {
    changes: u64,
    bindings: BTreeSet<ExplicitBinding>,
    fallback: FallbackRules,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RemoteProviders {
    /// Beside these; [`NoProviders`](super::NoProviders) when there are no others.
    #[must_use]
    pub fn beside(beside: Arc<dyn Providers>) -> Self {
        let (remotes, chosen, last) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { beside, remotes, chosen, last }
    }

    /// One more.
    pub fn add(&self, remote: Arc<dyn RemoteProvider>) {
        let mut chosen = locked(&self.chosen);
        locked(&self.remotes).push(Remote { provider: remote, turn: Arc::default() });
        chosen.changes += 1;
    }

    /// Has a provider carry out a capability, in one session or in all, before everybody else.
    pub fn bind(&self, binding: ExplicitBinding) {
        let mut chosen = locked(&self.chosen);
        chosen.bindings.retain(|own| (own.session, &own.capability) != (binding.session, &binding.capability));
        chosen.bindings.insert(binding);
        chosen.changes += 1;
    }

    /// Forgets what was chosen for a session, which has ended.
    pub fn forget(&self, session: SessionId) {
        let mut chosen = locked(&self.chosen);
        chosen.bindings.retain(|own| own.session != Some(session));
        chosen.changes += 1;
    }

    /// What an operator says of fallback, in place of what was said.
    pub fn set_fallback(&self, fallback: FallbackRules) {
        let mut chosen = locked(&self.chosen);
        chosen.fallback = fallback;
        chosen.changes += 1;
    }

    fn remote(&self, kind: ProviderType, id: &str, who: &SessionIdentity) -> Option<Remote> {
        let remotes = locked(&self.remotes);
        let is = |remote: &&Remote| {
            let state = remote.provider.state();
            state.kind == kind && *state.id == *id && state.serves(who)
        };
        remotes.iter().find(is).cloned()
    }

    /// Calls the tool that a lease's decision names, for a broker; none for a tool of a provider that is not among these.
    #[must_use]
    pub fn call_tool(
        &self,
        decision: &Arc<ProviderDecision>,
        arguments: &[u8],
        who: &SessionIdentity,
    ) -> Option<BoxFuture<'static, Result<ToolReply, BrokerFault>>> {
        let Remote { provider, turn } = self.remote(decision.provider_type, &decision.provider_id, who)?;
        if !decision.is_serial() {
            return Some(provider.call_tool(decision, arguments));
        }
        let (decision, arguments) = (Arc::clone(decision), arguments.to_vec());
        Some(Box::pin(async move {
            let _turn = turn.lock().await;
            provider.call_tool(&decision, &arguments).await
        }))
    }

    /// These beside those.
    fn with(&self, beside: &ProviderSnapshot) -> Arc<ProviderSnapshot> {
        let chosen = locked(&self.chosen);
        let remotes = locked(&self.remotes);
        // Each only grows, so that the sum stands for all of them.
        let revision =
            remotes.iter().map(|remote| remote.provider.revision()).sum::<u64>() + chosen.changes + beside.revision();
        let mut last = locked(&self.last);
        if let Some((_, known)) = last.as_ref().filter(|(known, _)| *known == revision) {
            return Arc::clone(known);
        }
        let states = beside.providers().iter().cloned().chain(remotes.iter().map(|remote| remote.provider.state()));
        let snapshot = ProviderSnapshot::new(revision, states.collect())
            .with_bindings(chosen.bindings.iter().cloned())
            .with_fallback(chosen.fallback.clone());
        let snapshot = Arc::new(snapshot);
        *last = Some((revision, Arc::clone(&snapshot)));
        snapshot
    }
}

impl Providers for RemoteProviders {
    fn snapshot(&self) -> Arc<ProviderSnapshot> {
        self.with(&self.beside.snapshot())
    }

    fn snapshot_for(&self, who: &SessionIdentity) -> Arc<ProviderSnapshot> {
        self.with(&self.beside.snapshot_for(who))
    }

    fn any(&self) -> bool {
        self.beside.any() || !locked(&self.remotes).is_empty()
    }

    fn run(&self, decision: &Arc<ProviderDecision>, arguments: &[u8], call: Call) -> Soon<'_, BodyEnd> {
        match self.remote(decision.provider_type, &decision.provider_id, call.lease().identity()) {
            Some(Remote { provider, .. }) if !decision.is_serial() => {
                Soon::Later(provider.carry_out(decision, arguments, call))
            }
            Some(Remote { provider, turn }) => {
                let (decision, arguments) = (Arc::clone(decision), arguments.to_vec());
                Soon::Later(Box::pin(async move {
                    let _turn = turn.lock().await;
                    provider.carry_out(&decision, &arguments, call).await
                }))
            }
            None => self.beside.run(decision, arguments, call),
        }
    }
}
