//! Stage one: an exact name and version, and who would run it.

use super::invocation::{Invocation, ReadyToResolve, Resolved, Settled, Stopped};
use crate::code::{Code, Stage};
use crate::provider::ProviderDecision;

impl<S: Sized> Invocation<S> {
    /// Resolves the name and version to a provider decision. There is no near match.
    ///
    /// # Errors
    /// `unknown_capability`.
    pub fn resolve(mut self) -> Result<Invocation<Resolved>, Box<Stopped>>
    where
        S: ReadyToResolve,
    {
        self.course.ticket.stage = Stage::Resolve;
        let proposal = self.state.state().proposal;
        let executor = &self.course.executor;
        let Some((at, entry)) = executor
            .registry
            .position(&proposal.name, proposal.version)
            .and_then(|at| executor.registry.at(at).map(|held| (at, held.entry())))
        else {
            return Err(self.course.refuse(Code::UnknownCapability));
        };
        let bound = entry.handles().iter().all(|kind| executor.broker.serves(*kind));
        let decision = ProviderDecision::compiled(entry, bound);
        self.course.ticket.resolved(entry, entry.class());
        Ok(Invocation { course: self.course, state: Resolved { proposal, subject: Settled { at, decision } } })
    }
}
