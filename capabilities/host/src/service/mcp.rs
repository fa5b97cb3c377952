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

use capability_core::Session;
use capability_core::approval::{ApprovalId, Filed, PendingApproval, Successor};
use capability_core::executor::{Ended, Outcome, Proposal};
use capability_core::registry::Registered;
use capability_core::session::Subject;
use capability_core::store::Answer;
use capability_core::surface::{ToolKey, WireNames};
use rustix::process::Pid;

use super::{Service, unsaid};
use crate::mcp::ClientEntry;
use crate::protocol::{
    Caller, Fault, Greeting, McpRequest, Reply, Said, ToolCall, ToolEnd, ToolReply, ToolShown, ToolWaits,
};
use crate::web::{ARM, word};
use repeats::Same;
use state::Told;

/// The longest question that is put to a person at a program; a longer one is for the approval centre.
const MAX_QUESTION_BYTES: usize = 8 * 1024;

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
                super::document(&Greeting { turn_ms: millis(settings.turn), patience_ms: millis(settings.patience) })
            }
            McpRequest::Tools(caller) => {
                let asker = self.asker(caller, peer)?;
                super::document(&self.tools(&asker.session)?)
            }
            McpRequest::Call(call) => {
                let asker = self.asker(&call.caller, peer)?;
                super::document(&self.tool_call(&asker, call).await?)
            }
            McpRequest::ClientCreate { proof, name, subject } => {
                super::document(&self.create_client(&self.operator(proof, peer)?, name, subject).await?)
            }
            McpRequest::ClientList(proof) => super::document(&self.clients(&self.operator(proof, peer)?)),
            McpRequest::ClientRevoke(proof, name) => {
                super::document(&self.revoke_client(&self.operator(proof, peer)?, name).await?)
            }
        }
    }

    /// Every tool that a session sees, by name.
    fn named(&self) -> impl Iterator<Item = (String, &Registered)> {
        let registry = self.host.executor().registry();
        let names = WireNames::assign(registry.iter().map(key));
        registry.iter().filter_map(move |held| Some((names.name(&key(held))?.to_string(), held)))
    }

    fn tools(&self, _: &Session) -> Result<Vec<ToolShown>, Fault> {
        let shown = |(name, held): (String, &Registered)| {
            let entry = held.entry();
            let schemas = held.schemas().map_err(|_| unsaid())?;
            Ok(ToolShown {
                name,
                title: entry.title().map(str::to_owned),
                description: entry.description().to_owned(),
                arguments: schemas.arguments().clone(),
                result: Some(schemas.result().clone()),
                capability: entry.name().as_str().to_owned(),
                version: entry.version(),
                side_effect: entry.class().side_effect,
                network: entry.class().network,
                confirmation: entry.confirmation().as_str().to_owned(),
                idempotent: entry.is_idempotent(),
            })
        };
        self.named().filter(|(_, held)| !held.entry().is_locked()).map(shown).collect()
    }

    async fn tool_call(&self, asker: &Asker, call: &ToolCall) -> Result<ToolReply, Fault> {
        let executor = self.host.executor();
        let Some((_, held)) = self.named().find(|(name, _)| *name == call.tool) else {
            // On record like any other; what it was called is nobody's business there.
            let nothing = Proposal::new(String::new(), 0, Vec::new());
            let _ = executor.invoke(&asker.session, nothing).await;
            return Ok(ToolReply::Unknown);
        };
        let entry = held.entry();
        let (name, version) = (entry.name(), entry.version());
        let same = Same::of(asker.session.identity().subject.clone(), name, version, &call.arguments);
        let now = self.host.environment().now();
        let (approval, told) = match &call.state {
            Some(sealed) => match self.states.open(sealed, &same) {
                Some(told) => (Some(told.approval), Some(told)),
                None => return Ok(ToolReply::Stale),
            },
            None => (self.repeats.of(&same, now), None),
        };
        if let (Some(told), Said::Yes) = (&told, call.said) {
            self.take_yes(asker, told).await;
        }
        let mut outcome = match approval {
            Some(id) => executor.resume(&asker.session, id).await,
            None => {
                let proposal = Proposal::new(name.as_str(), version.get(), call.arguments.as_bytes());
                executor.invoke(&asker.session, proposal).await
            }
        };
        let mut changed = false;
        if let Ended::Superseded { successor: Successor::By(by) } = *outcome.ended() {
            outcome = executor.resume(&asker.session, by).await;
            changed = true;
        }
        let end = end(held, &outcome, changed)?;
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

    /// The person who sits at a program, by the configuration's word.
    fn person(&self, asker: &Asker) -> Option<Subject> {
        let client = asker.client.as_ref()?;
        self.host.config().mcp.clients.get(&client.name).map(|table| table.person.clone())
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
        let client = match caller.client.as_ref().and_then(|client| client.token.as_ref()) {
            None => None,
            Some(token) => Some(self.client(token)?),
        };
        Ok(Asker { session: self.session_of(caller, client.as_ref(), peer)?, client })
    }
}

fn key(held: &Registered) -> ToolKey {
    ToolKey::Compiled(held.entry().name(), held.entry().version())
}

/// How a call ended, for a program.
fn end(held: &Registered, outcome: &Outcome, changed: bool) -> Result<ToolEnd, Fault> {
    Ok(ToolEnd {
        outcome: serde_json::to_value(outcome).map_err(|_| unsaid())?,
        capability: held.entry().name().as_str().to_owned(),
        version: held.entry().version(),
        diagnostic: None,
        changed,
    })
}
