//! Tools for programs that speak MCP: what they see, what they call, and how a person comes into it.
//!
//! A call that waits for a person is told with a sealed word. Whoever sends the same call again with it, or the same call
//! again at all while it waits, asks about that one and files no second one.

mod clients;
mod passes;
mod repeats;
mod state;

pub(super) use passes::Passes;
pub(super) use repeats::Repeats;
pub(super) use state::States;

use capability_core::approval::{ApprovalId, Filed, PendingApproval, Successor};
use capability_core::contract::{Network, SideEffect};
use capability_core::executor::{Ended, Outcome, Proposal};
use capability_core::handle::HandleFamily;
use capability_core::provider::ProviderType;
use capability_core::registry::Registry;
use capability_core::session::{SessionId, Subject};
use capability_core::store::{Answer, Results as _};
use capability_core::surface::{INVOKE_TOOL, Profile, RenderedTool, SurfaceCall, TOOL_SEARCH, Tool, WireName};
use capability_core::{Capability, Code, Session};
use rustix::process::Pid;
use serde_json::Value;

use super::{Service, unsaid};
use crate::mcp::ClientEntry;
use crate::protocol::{
    Caller, Fault, Greeting, McpRequest, Reply, Said, ToolCall, ToolEnd, ToolReply, ToolShown, ToolWaits, ToolsShown,
};
use crate::web::{ARM, word};
use repeats::Same;
use state::Told;

/// The longest question that is put to a person at a program; a longer one is for the approval centre.
const MAX_QUESTION_BYTES: usize = 8 * 1024;

/// How long what a session named is kept after it has been heard of last: it says that it is there more often than that.
const KEPT_NAMED: core::time::Duration = core::time::Duration::from_secs(2 * 60);
/// The same for a client that is known by its token, which says nothing while it has nothing to ask.
const KEPT_IDLE: core::time::Duration = core::time::Duration::from_secs(15 * 60);

/// Whoever asks through a program: its session, and which program it is where a token said so.
pub(super) struct Asker {
    pub(super) session: Session,
    pub(super) client: Option<ClientEntry>,
}

impl Service {
    pub(super) async fn mcp(&self, request: &McpRequest, peer: Option<Pid>) -> Result<Reply, Fault> {
        match request {
            McpRequest::Greet(caller) => {
                let asker = self.asker(caller, peer)?;
                if let Some(client) = caller.client.as_ref().filter(|_| caller.proof.is_some()) {
                    self.passes.remember(client.connection, asker.session.identity().subject.clone());
                }
                let settings = self.host.config().mcp();
                let millis = |span: core::time::Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
                let (turn_ms, patience_ms) = (millis(settings.turn), millis(settings.patience));
                super::document(&Greeting { turn_ms, patience_ms, skills: self.host.skills().is_configured() })
            }
            McpRequest::Tools(caller) => {
                let asker = self.asker(caller, peer)?;
                super::document(&self.tools(&asker.session))
            }
            McpRequest::Call(call) => {
                let asker = self.asker(&call.caller, peer)?;
                super::document(&self.tool_call(&asker, call).await?)
            }
            McpRequest::Stay(caller) => {
                has_own_session(caller)?;
                self.asker(caller, peer)?;
                super::document(&())
            }
            McpRequest::Leave(caller) => {
                has_own_session(caller)?;
                self.program_left(self.session(caller, peer)?.identity().id);
                if let Some(client) = &caller.client {
                    self.passes.forget(client.connection);
                }
                super::document(&())
            }
            McpRequest::Skills(caller) => super::document(&self.loaded(&self.asker(caller, peer)?.session)),
            McpRequest::Skill(caller, name) => {
                super::document(&self.instructions(&self.asker(caller, peer)?.session, name)?)
            }
            McpRequest::SkillPart(caller, name, path) => {
                super::document(&self.resource(&self.asker(caller, peer)?.session, name, path)?)
            }
            McpRequest::ClientCreate { proof, name, subject, slot } => {
                let operator = self.operator(proof, peer)?;
                super::document(&self.create_client(&operator, name, subject, slot.as_ref()).await?)
            }
            McpRequest::ClientList(proof) => super::document(&self.clients(&self.operator(proof, peer)?)),
            McpRequest::ClientRevoke(proof, name) => {
                super::document(&self.revoke_client(&self.operator(proof, peer)?, name).await?)
            }
        }
    }

    fn tools(&self, session: &Session) -> ToolsShown {
        let (surface, registry) = (self.surfaces.of(session), self.host.executor().registry());
        let mut tools: Vec<ToolShown> = surface.shown().filter_map(|tool| shown(tool, registry)).collect();
        // Whether or not there is anything to be found: a provider may come after a client has asked for its list.
        let operations = surface.rendered(Profile::Mcp).tools.into_iter().filter_map(|written| operation(&written));
        let provided = surface.shown().position(Tool::is_foreign).unwrap_or(tools.len());
        let at = provided.min(tools.len());
        tools.splice(at..at, operations);
        let facts = serde_json::to_value(surface.facts()).unwrap_or_default();
        ToolsShown { tools, facts, skills: self.loaded(session) }
    }

    async fn tool_call(&self, asker: &Asker, call: &ToolCall) -> Result<ToolReply, Fault> {
        let executor = self.host.executor();
        let arguments = call.arguments.as_bytes();
        let called = self.surfaces.called(&asker.session, &call.tool, arguments);
        let unowned = if called.tool.is_none() { self.unowned(&asker.session, &call.tool) } else { None };
        let proposal = match called.call {
            SurfaceCall::Proposal(_) if let Some(entry) = unowned => {
                Proposal::new(entry.name().as_str(), entry.version().get(), call.arguments.as_bytes())
            }
            SurfaceCall::Proposal(proposal) => proposal,
            SurfaceCall::Found(found) => {
                return Ok(ToolReply::Found(serde_json::to_value(found).map_err(|_| unsaid())?));
            }
            SurfaceCall::Faulted(fault) => {
                let told = fault.to_string();
                let (message, help) = told.split_once("\nhelp: ").unwrap_or((&told, ""));
                return Ok(ToolReply::Refused { message: message.to_owned(), help: help.to_owned() });
            }
        };
        let meant = called.tool.as_ref();
        let same = meant.map(|tool| Same::of(&asker.session, tool, &call.tool, &call.arguments));
        let now = self.host.environment().now();
        let (approval, told) = match (&call.state, &same) {
            (Some(sealed), Some(same)) => match self.states.open(sealed, same) {
                Some(told) => (Some(told.approval), Some(told)),
                None => return Ok(ToolReply::Stale),
            },
            (None, Some(same)) => (self.repeats.of(same, now), None),
            (_, None) => (None, None),
        };
        if let (Some(told), Said::Yes) = (&told, call.said) {
            self.take_yes(asker, told).await;
        }
        let mut outcome = match approval {
            Some(id) => executor.resume(&asker.session, id).await,
            None => executor.invoke(&asker.session, proposal).await,
        };
        let (Some(same), Some(tool)) = (same, meant) else {
            // It is on record; what it was called is nobody's business there.
            let end = self.end(asker, None, &outcome, false)?;
            let is_unknown = outcome.code() == Some(Code::UnknownCapability) && call.tool != INVOKE_TOOL;
            return Ok(if is_unknown { ToolReply::Unknown(end) } else { ToolReply::Ended(end) });
        };
        let mut changed = false;
        if let Ended::Superseded { successor: Successor::By(by) } = *outcome.ended() {
            outcome = executor.resume(&asker.session, by).await;
            changed = true;
        }
        let end = self.end(asker, Some(tool), &outcome, changed)?;
        let Ended::Pending { approval, expires_at } = *outcome.ended() else {
            self.repeats.forget(&same);
            return Ok(ToolReply::Ended(end));
        };
        self.repeats.remember(same.clone(), approval, expires_at, now);
        let link = self.web().get().map(|serving| format!("{}/approvals/{approval}", serving.address()));
        let question = self.question(asker, approval).await;
        Ok(ToolReply::Waiting(ToolWaits {
            end,
            approval,
            expires_at,
            link,
            state: self.states.seal(&Told { approval, asked: now }, &same, expires_at.since(now)),
            answers: question.is_some(),
            question: question.unwrap_or_default(),
        }))
    }

    /// The session of a program.
    pub(crate) fn program_session(&self, caller: &Caller, peer: Option<Pid>) -> Result<SessionId, Fault> {
        Ok(self.asker(caller, peer)?.session.identity().id)
    }

    /// Nobody asks in this session any more: nobody can have its results again, and what it left running ends.
    pub(crate) fn program_left(&self, session: SessionId) {
        self.host.results().end(session);
        self.host.end_processes_of(session);
        self.host.providers().leave(session);
    }

    /// A capability of the build that leads to providers of a kind of which there is none: called as tools are, it is no unknown
    /// tool, and nobody owns it.
    fn unowned(&self, session: &Session, tool: &str) -> Option<&'static Capability> {
        let (executor, name) = (self.host.executor(), tool.replace('-', "."));
        let registry = executor.registry();
        let entry = registry.resolve(&name, registry.newest(&name)?.get())?.entry();
        let mut kinds = entry.handles().iter().filter(|kind| kind.family() == HandleFamily::ProviderTool);
        let kind = kinds.next().and_then(|kind| ProviderType::named(kind.instance()))?;
        let is_named = WireName::of_capability(entry.name()).as_str() == tool;
        (is_named && !executor.providers().has(kind, session.identity())).then_some(entry)
    }

    /// How a call ended, for a program.
    fn end(&self, asker: &Asker, tool: Option<&Tool>, outcome: &Outcome, changed: bool) -> Result<ToolEnd, Fault> {
        let diagnostic = outcome.diagnostic().map(|one| (one.as_str().to_owned(), one.message().to_owned()));
        let capability = tool.map(|tool| (tool.decision().capability.as_str().to_owned(), tool.decision().version));
        Ok(ToolEnd { outcome: self.outcome_told(&asker.session, outcome)?, capability, diagnostic, changed })
    }

    /// The person who sits at a program, by the configuration's word.
    fn person(&self, asker: &Asker) -> Option<Subject> {
        let client = asker.client.as_ref()?;
        self.host.config().mcp.clients.get(&client.name)?.person.clone()
    }

    /// What the person at the program is asked, where what they answer there counts: what would run, exactly and whole. What is
    /// grave, hides something or is too long to be read there is answered in the approval centre.
    async fn question(&self, asker: &Asker, id: ApprovalId) -> Option<String> {
        let pending = self.pending_for(asker, id).await?;
        let card = crate::cli::plain_card(&pending);
        let readable = card.len() <= MAX_QUESTION_BYTES && word(&pending).is_none();
        readable.then_some(card)
    }

    /// What waits, when the asker's person may answer it: a call of the asker's own subject.
    async fn pending_for(&self, asker: &Asker, id: ApprovalId) -> Option<PendingApproval> {
        let operator = self.host.operators().admit_at_client(&self.person(asker)?);
        let Filed { approval, .. } = self.host.filed(&operator, id).await.ok()??;
        (approval.identity.subject == asker.session.identity().subject).then_some(approval)
    }

    /// A yes that a program brings: taken as its person's where an operator bound it to one, what was asked could be answered
    /// there, and somebody can have read it. Anything else leaves the approval as it is.
    async fn take_yes(&self, asker: &Asker, told: &Told) {
        let Some(person) = self.person(asker) else { return };
        let read = self.host.environment().now().since(told.asked) >= ARM;
        if !read || self.question(asker, told.approval).await.is_none() {
            return;
        }
        let operator = self.host.operators().admit_at_client(&person);
        // Whether it took effect is seen right after, when the call goes on.
        let _ = self.answered(&operator, told.approval, Answer::Approve).await;
    }

    /// Who asks through a program, or by the command line.
    pub(super) fn asker(&self, caller: &Caller, peer: Option<Pid>) -> Result<Asker, Fault> {
        if !caller.with.is_empty() {
            has_own_session(caller)?;
        }
        let client = match caller.client.as_ref().and_then(|client| client.token.as_ref()) {
            None => None,
            Some(token) => Some(self.client(token)?),
        };
        let session = self.session_of(caller, client.as_ref(), peer)?;
        self.bind(&session, caller, client.as_ref())?;
        Ok(Asker { session, client })
    }

    /// Binds the servers that a session has of its own: those that whoever asks names, and those of its token.
    fn bind(&self, session: &Session, caller: &Caller, client: Option<&ClientEntry>) -> Result<(), Fault> {
        let of_token = client.and_then(|client| self.host.config().mcp.clients.get(&client.name));
        let of_token = of_token.into_iter().flat_map(|table| table.servers.iter().map(|name| (name, KEPT_IDLE)));
        for (name, kept) in caller.with.iter().map(|name| (name, KEPT_NAMED)).chain(of_token) {
            let bound = crate::blocking::blocking(|| self.host.providers().bind(name, session.identity(), kept));
            bound.map_err(|error| Fault::told(4, &error))?;
        }
        Ok(())
    }
}

/// Servers are bound to a session that one program has for itself, and only that program ends it: command lines of one subject share
/// theirs.
fn has_own_session(caller: &Caller) -> Result<(), Fault> {
    if caller.client.is_some() || caller.own.is_some() {
        return Ok(());
    }
    let help = "say it over a connection of one program, or name a session of your own";
    Err(Fault::usage("servers of a session need a session that is nobody else's", help))
}

/// A tool as a client is told of it; none whose own schema is at fault.
fn shown(tool: &Tool, registry: &Registry) -> Option<ToolShown> {
    let decision = tool.decision();
    Some(ToolShown {
        name: tool.name().as_str().to_owned(),
        title: tool.title().map(str::to_owned),
        description: tool.description().to_owned(),
        arguments: tool.arguments(registry)?,
        result: tool.result(registry).cloned(),
        capability: Some((decision.capability.as_str().to_owned(), decision.version)),
        side_effect: tool.class().side_effect,
        network: tool.class().network,
        idempotent: tool.is_idempotent(),
    })
}

/// One of the surface's own operations. What is called through one may be anything, so that it is told as the strictest.
fn operation(written: &RenderedTool) -> Option<ToolShown> {
    let searches = match written.name.as_str() {
        TOOL_SEARCH => true,
        INVOKE_TOOL => false,
        _ => return None,
    };
    let tool = written.tool.as_ref()?;
    Some(ToolShown {
        name: written.name.clone(),
        title: None,
        description: tool.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        arguments: tool.get("inputSchema").cloned()?,
        result: None,
        capability: None,
        side_effect: if searches { SideEffect::ReadOnly } else { SideEffect::Mutating },
        network: if searches { Network::Local } else { Network::External },
        idempotent: false,
    })
}
