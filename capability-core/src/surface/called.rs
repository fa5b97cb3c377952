//! One call by a name: what a surface makes of it, without the tools that have nothing to do with it.

use super::operations::Invoke;
use super::{INVOKE_TOOL, Surface, SurfaceCall, SurfaceOptions, SurfaceRefusal, TOOL_SEARCH, Tool};
use crate::executor::{Executor, Proposal};
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
    /// Only a search needs all of them, and whatever has to fit into a budget together with others: a host whose calls are
    /// many says [`SurfaceOptions::every_compiled`].
    #[must_use]
    pub fn called(
        executor: &Executor,
        session: &Session,
        options: &SurfaceOptions,
        name: &str,
        arguments: &[u8],
    ) -> Called {
        let meant = match name {
            INVOKE_TOOL => match serde_json::from_slice::<Invoke<'_>>(arguments) {
                Ok(invoke) => invoke.tool,
                Err(_) => return Called { call: through(arguments, |_| None), tool: None },
            },
            _ if options.every_compiled && name != TOOL_SEARCH => name.to_owned(),
            _ => {
                let whole = Self::of_session(executor, session, options);
                return Called { call: whole.call(name, arguments), tool: whole.find(name).cloned() };
            }
        };
        let registry = executor.registry();
        let tool = found(registry, &executor.decisions_called(session, &meant), &meant);
        let call = if name == INVOKE_TOOL {
            through(arguments, |_| tool.as_ref())
        } else {
            let found = tool.as_ref().map(|tool| (tool, options.pins(tool) && tool.has_arguments(registry)));
            direct(registry, name, arguments, found)
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

/// A call of a tool by its own name: which one that is, and whether it is shown.
pub(super) fn direct(registry: &Registry, name: &str, arguments: &[u8], found: Option<(&Tool, bool)>) -> SurfaceCall {
    let Some((tool, is_shown)) = found else {
        // Version 0 of anything is unknown to the executor, which says so and records it.
        return SurfaceCall::Proposal(Proposal::new(name, 0, arguments));
    };
    if !is_shown {
        return SurfaceCall::Refused(SurfaceRefusal {
            message: format!(
                "`{}` is called by `{INVOKE_TOOL}` only: nobody has been shown its arguments",
                tool.name()
            ),
            help: format!("find it with `{TOOL_SEARCH}`, and call `{INVOKE_TOOL}` with the digest it comes with"),
        });
    }
    let proposal = tool.decision().proposal(arguments);
    // What is compiled in cannot be another one by now.
    SurfaceCall::Proposal(match tool.selection(registry).filter(|_| tool.is_foreign()) {
        Some(digest) => proposal.selected(digest),
        None => proposal,
    })
}

/// A call through [`INVOKE_TOOL`].
pub(super) fn through<'t>(arguments: &[u8], find: impl FnOnce(&str) -> Option<&'t Tool>) -> SurfaceCall {
    let Ok(invoke) = serde_json::from_slice::<Invoke<'_>>(arguments) else {
        let rule = "the name and digest that a search gave, and an object of arguments";
        return SurfaceCall::Refused(SurfaceRefusal::malformed(INVOKE_TOOL, rule));
    };
    SurfaceCall::Proposal(match find(&invoke.tool) {
        Some(tool) => tool.decision().proposal(invoke.arguments.get()).selected(invoke.digest),
        None => Proposal::new(invoke.tool, 0, invoke.arguments.get()),
    })
}
