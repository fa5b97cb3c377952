//! One call by a name: what a surface makes of it, without the tools that have nothing to do with it.

use std::sync::Arc;

use super::operations::Invoke;
use super::{INVOKE_TOOL, Surface, SurfaceCall, SurfaceOptions, TOOL_SEARCH, Tool, resident};
use crate::code::Code;
use crate::executor::{Executor, Proposal, Refusal};
use crate::provider::Decisions;
use crate::registry::Registry;
use crate::session::Session;

/// What comes of one call.
#[derive(Debug)]
pub struct Called {
    /// As [`Surface::call`] gives it.
    pub call: SurfaceCall,
    /// The tool that it is about, by its own name or through [`INVOKE_TOOL`]; none for a search, and for what nobody is shown.
    pub tool: Option<Tool>,
}

impl Surface {
    /// What comes of calling `name` on the surface of this session at this moment: what [`Surface::of_session`] and
    /// [`Surface::call`] say, from the decision about that tool alone.
    ///
    /// Only a search needs all of them; and where the tools that want to be shown do not fit into the budget together, so does a
    /// call of one of those.
    #[must_use]
    pub fn called(
        executor: &Executor,
        session: &Session,
        options: &SurfaceOptions,
        name: &str,
        arguments: &[u8],
    ) -> Called {
        let whole = || Arc::new(Self::of_session(executor, session, options));
        Self::called_on(executor, session, options, name, arguments, whole)
    }

    /// The same, where `whole` gives that surface.
    pub(super) fn called_on(
        executor: &Executor,
        session: &Session,
        options: &SurfaceOptions,
        name: &str,
        arguments: &[u8],
        whole: impl Fn() -> Arc<Self>,
    ) -> Called {
        let meant = match name {
            TOOL_SEARCH => return Called { call: whole().call(name, arguments), tool: None },
            INVOKE_TOOL => match serde_json::from_slice::<Invoke<'_>>(arguments) {
                Ok(invoke) => invoke.tool,
                Err(_) => return Called { call: through(arguments, |_| None), tool: None },
            },
            _ => name.to_owned(),
        };
        let registry = executor.registry();
        let tool = found(registry, &executor.decisions_called(session, &meant), &meant);
        let call = if name == INVOKE_TOOL {
            through(arguments, |_| tool.as_ref())
        } else {
            let is_shown = |tool: &Tool| {
                let fits = || resident::all_fit(registry, options) || whole().is_shown(name);
                tool.has_arguments(registry)
                    && (options.pins(tool) || (resident::wants(tool.entry(), tool.is_foreign(), registry) && fits()))
            };
            direct(registry, name, arguments, tool.as_ref().map(|tool| (tool, is_shown(tool))))
        };
        Called { call, tool }
    }
}

/// The tool of exactly that name.
fn found(registry: &Registry, decisions: &Decisions, name: &str) -> Option<Tool> {
    let decision = decisions.by_tool_name(name)?;
    let held = registry.resolve(decision.capability.as_str(), decision.version.get())?;
    Some(Tool::named(name, (**decision).clone(), held.entry()))
}

/// A call of a tool by its own name: which one that is, and whether it is shown. What is not shown leads to the executor as
/// well, which refuses it and records that.
pub(super) fn direct(registry: &Registry, name: &str, arguments: &[u8], found: Option<(&Tool, bool)>) -> SurfaceCall {
    let Some((tool, is_shown)) = found else {
        // Version 0 of anything is unknown to the executor, which says so and records it.
        return SurfaceCall::Proposal(Proposal::new(name, 0, arguments));
    };
    let proposal = tool.decision().proposal(arguments);
    if !is_shown {
        let message =
            format!("`{}` is called by `{INVOKE_TOOL}` only: nobody has been shown its arguments", tool.name());
        let refusal = Refusal { message: message.into(), ..Code::SelectionMissing.into() };
        return SurfaceCall::Proposal(proposal.refused(refusal));
    }
    // What is compiled in cannot be another one by now.
    SurfaceCall::Proposal(match tool.selection(registry).filter(|_| tool.is_foreign()) {
        Some(digest) => proposal.selected(digest),
        None => proposal,
    })
}

/// A call through [`INVOKE_TOOL`].
pub(super) fn through<'t>(arguments: &[u8], find: impl FnOnce(&str) -> Option<&'t Tool>) -> SurfaceCall {
    let Ok(invoke) = serde_json::from_slice::<Invoke<'_>>(arguments) else {
        return malformed(INVOKE_TOOL, "the name and digest that a search gave, and an object of arguments");
    };
    SurfaceCall::Proposal(match find(&invoke.tool) {
        Some(tool) => tool.decision().proposal(invoke.arguments.get()).selected(invoke.digest),
        None => Proposal::new(invoke.tool, 0, invoke.arguments.get()),
    })
}

/// An operation with other arguments than it takes: nothing is looked for and nothing is called, and the attempt is on record.
pub(super) fn malformed(operation: &str, rule: &str) -> SurfaceCall {
    let help = format!("send the arguments as the schema of `{operation}` says: {rule}");
    let message = format!("`{operation}` was called with other arguments than it takes");
    let refusal = Refusal { code: Code::OperationMalformed, message: message.into(), help: help.into() };
    SurfaceCall::Proposal(Proposal::new(operation, 0, Vec::new()).refused(refusal))
}
