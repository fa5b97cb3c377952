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
            // A provider that says to carry it out has the name from elsewhere: here nothing owns it.
            let code = if executor.is_carried_out(&course.proposal.name, course.ticket.session.identity().id) {
                Code::UnsupportedCapability
            } else {
                Code::UnknownCapability
            };
            return Err(course.refuse(code));
        };
        let decided = executor.decided(held, &course.proposal.arguments, course.ticket.session.identity().id);
        course.at = at;
        match decided {
            Ok(decided) => course.decided = decided,
            Err(code) => {
                let told = match code {
                    Code::UnknownTool => {
                        executor.unknown_tool(held, &course.proposal.arguments, &course.ticket.session)
                    }
                    code => code.into(),
                };
                course.ticket.resolved(entry, entry.class(), None);
                return Err(course.refuse(told));
            }
        }
        let class = course.class(entry);
        course.ticket.resolved(entry, class, course.decided.as_deref());
        if let Some(selected) = course.proposal.selected {
            let found = course.registered().zip(course.provider());
            if found.and_then(|(held, provider)| SelectionDigest::of(provider, held)) != Some(selected) {
                return Err(course.refuse(Code::SelectionStale));
            }
        }
        Ok(Invocation { course, state: Resolved(()) })
    }
}
