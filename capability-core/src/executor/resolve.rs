//! Stage one: an exact name and version, and who would run it.

use super::invocation::{Invocation, Proposed, Resolved, Stopped};
use crate::code::{Code, Stage};
use crate::surface::SelectionDigest;

impl Invocation<Proposed> {
    pub(super) fn into_resolved(self) -> Result<Invocation<Resolved>, Box<Stopped>> {
        let Self { mut course, state: Proposed(()) } = self;
        course.ticket.stage = Stage::Resolve;
        let executor = &course.ticket.executor;
        let found = executor
            .registry
            .position(&course.proposal.name, course.proposal.version)
            .and_then(|at| executor.registry.at(at).map(|held| (at, held.entry(), held)));
        let Some((at, entry, held)) = found else {
            return Err(course.refuse(Code::UnknownCapability));
        };
        if let Some(selected) = course.proposal.selected
            && SelectionDigest::of(held.served(), held) != Some(selected)
        {
            return Err(course.refuse(Code::SelectionStale));
        }
        course.unserved = if executor.binds(entry) { None } else { Some(held.unserved()) };
        course.at = at;
        course.ticket.resolved(entry, entry.class());
        Ok(Invocation { course, state: Resolved(()) })
    }
}
