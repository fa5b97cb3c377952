//! Stage one: an exact name and version, and who would run it.

use std::sync::Arc;

use super::invocation::{Invocation, Proposed, Resolved, Stopped};
use crate::code::{Code, Stage};
use crate::provider::ProviderDecision;
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
        let refused = course.proposal.refused.take();
        let Some((at, entry, held)) = found else {
            if let Some(refusal) = refused {
                return Err(course.refuse(*refusal));
            }
            // A provider that says to carry it out has the name from elsewhere: here nothing owns it.
            let code = if executor.is_carried_out(&course.proposal.name, course.ticket.session.identity()) {
                Code::UnsupportedCapability
            } else {
                Code::UnknownCapability
            };
            return Err(course.refuse(code));
        };
        let decided = executor.decided(held, &course.proposal.arguments, course.ticket.session.identity());
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
                // For whoever asks which way it would have gone: there is none.
                course.decided = Some(Arc::new(ProviderDecision::compiled(entry, true).blocked(code)));
                return Err(course.refuse(told));
            }
        }
        let class = course.class(entry);
        course.ticket.resolved(entry, class, course.decided.as_deref());
        if let Some(refusal) = refused {
            return Err(course.refuse(*refusal));
        }
        if let Some(selected) = course.proposal.selected {
            let found = course.registered().zip(course.provider());
            if found.and_then(|(held, provider)| SelectionDigest::of(provider, held)) != Some(selected) {
                return Err(course.refuse(Code::SelectionStale));
            }
        }
        Ok(Invocation { course, state: Resolved(()) })
    }
}
