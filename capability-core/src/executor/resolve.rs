//! Stage one: an exact name and version, and who would run it.

use super::invocation::{Invocation, Proposed, Resolved, Settled, Stopped};
use crate::code::{Code, Stage};

impl Invocation<Proposed> {
    pub(super) fn into_resolved(mut self) -> Result<Invocation<Resolved>, Box<Stopped>> {
        self.course.ticket.stage = Stage::Resolve;
        let proposal = &self.course.proposal;
        let executor = &self.course.executor;
        let found = executor
            .registry
            .position(&proposal.name, proposal.version)
            .and_then(|at| executor.registry.at(at).map(|held| (at, held)));
        let Some((at, held)) = found else {
            return Err(self.course.refuse(Code::UnknownCapability));
        };
        let entry = held.entry();
        let decision = held.decision(executor.binds(entry));
        self.course.ticket.resolved(entry, entry.class());
        Ok(Invocation { course: self.course, state: Resolved { subject: Settled { at, decision } } })
    }
}
