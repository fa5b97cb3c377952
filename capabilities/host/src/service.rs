//! What a host does with each request.

mod answered;
mod approvals;
mod channels;
mod doctor;
mod grants;
mod health;
mod isolation;
mod journal;
mod kept;
mod listing;
mod mcp;
mod policy;
mod providers;
mod questions;
mod running;
mod settings;
mod skills;
mod surface;
mod web;

pub use channels::MOST_TOLD;
pub use journal::MOST_ENTRIES;

use core::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

use capability_core::Session;
use capability_core::approval::{ApprovalId, Operator};
use capability_core::executor::Proposal;
use capability_core::session::{Declarations, Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::surface::Surfaces;
use rustix::process::Pid;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::channel::{Channels, Codes};
use crate::host::Host;
use crate::mcp::ClientEntry;
use crate::operator::{OperatorToken, TerminalBinding};
use crate::protocol::{Caller, Fault, Proof, Reply, Request, drawn_turn, shared_turn};
use crate::subjects::SlotPath;
use crate::web::Serving;
use answered::Answered;

/// A host that answers requests.
pub struct Service {
    host: Host,
    /// Room for those who wait for an answer: never all the room there is, or whoever answers would not be let in.
    waiters: tokio::sync::Semaphore,
    answered: Answered,
    repeats: mcp::Repeats,
    passes: mcp::Passes,
    states: mcp::States,
    /// What programs that speak MCP are shown.
    surfaces: Surfaces,
    web: OnceLock<Serving>,
    channels: tokio::sync::OnceCell<Channels>,
    codes: Codes,
}

impl Service {
    /// Around an open host.
    #[must_use]
    pub fn new(host: Host) -> Self {
        let waiters = tokio::sync::Semaphore::new(approvals::MAX_WAITERS);
        let (answered, repeats, passes) = (Answered::default(), mcp::Repeats::default(), mcp::Passes::default());
        let states = mcp::States::new(*host.state_key());
        let (channels, codes) = (tokio::sync::OnceCell::new(), Codes::default());
        let surfaces = Surfaces::new(host.executor().clone(), surface::for_programs(host.config()));
        Self { host, waiters, answered, repeats, passes, states, surfaces, web: OnceLock::new(), channels, codes }
    }

    /// The same, shared by whoever speaks with its agents.
    #[must_use]
    pub fn shared(host: Host) -> Arc<Self> {
        let service = Arc::new(Self::new(host));
        service.host.agents().serve_by(&service);
        service
    }

    /// The host itself.
    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }

    /// Where the pages are served, once they are.
    pub(crate) const fn web(&self) -> &OnceLock<Serving> {
        &self.web
    }

    /// Gives back what the host holds at services outside.
    pub async fn close(&self) {
        self.settle_channels().await;
        self.host.agents().close().await;
        self.host.close().await;
    }

    /// Answers one request. `peer` is the process at the other end of the socket; none for this process itself.
    pub async fn handle(&self, request: &Request, peer: Option<Pid>) -> Reply {
        let reply = redacted(self.perform(request, peer).await.unwrap_or_else(Reply::Fault));
        // Neither what was asked nor what was answered: whether it was, and for whom.
        let (refused, peer) = (matches!(reply, Reply::Fault(_)), peer.map(|peer| peer.as_raw_nonzero().get()));
        tracing::trace!(refused, peer, runs = request.runs_a_capability(), "a request is answered");
        reply
    }

    /// Expires what nobody answered in time, on record, makes the calls whose time has come, and keeps how tools have been
    /// doing.
    pub async fn sweep(&self) {
        // A store that does not answer has said so itself; the next look tries again.
        let _ = self.host.executor().expire_due().await;
        let now = self.host.environment().now();
        self.host.results().forget(now);
        self.host.sweep_processes();
        self.host.providers().sweep();
        self.settle_channels().await;
        crate::blocking::blocking(|| self.host.learn_secrets());
        let _ = self.host.health().settle().await;
        self.host.run_due(now).await;
    }

    async fn perform(&self, request: &Request, peer: Option<Pid>) -> Result<Reply, Fault> {
        match request {
            Request::List => document(&self.list()),
            Request::Describe { name, version } => document(&self.describe(name, *version)?),
            Request::Invoke { name, version, arguments, claims, caller } => {
                let session = self.session_of_entry(self.session(caller, peer)?, caller).await?;
                let version = self.version(name, *version)?;
                let proposal = Proposal::new(name, version.get(), arguments.as_bytes()).with_claims(claims.clone());
                self.outcome(&session, &self.host.executor().invoke(&session, proposal).await)
            }
            Request::Resume { id, caller } => {
                let session = self.where_it_was_asked(self.session(caller, peer)?, *id).await?;
                self.outcome(&session, &self.host.executor().resume(&session, *id).await)
            }
            Request::Wait { id, caller } => document(&self.wait(&self.session(caller, peer)?, *id).await?),
            Request::History { most, caller } => document(&self.history(&self.session(caller, peer)?, *most).await?),
            Request::ApprovalList(proof) => document(&self.waiting(&self.operator(proof, peer)?).await?),
            Request::ApprovalShow(proof, id) => document(&self.show(&self.operator(proof, peer)?, *id).await?),
            Request::Approve(proof, id) => document(&self.approve(&self.operator(proof, peer)?, *id).await?),
            Request::Deny { proof, id, reason, note } => {
                document(&self.deny(&self.operator(proof, peer)?, *id, *reason, note).await?)
            }
            Request::ApprovalEdit { proof, id, arguments } => {
                document(&self.edit(&self.operator(proof, peer)?, *id, arguments).await?)
            }
            Request::ApprovalErase(proof, subject) => {
                document(&self.erase_retained(&self.operator(proof, peer)?, subject.as_ref()).await?)
            }
            Request::DenialLoops(proof) => document(&self.denial_loops(&self.operator(proof, peer)?).await?),
            Request::DenialsClear(proof, subject) => {
                document(&self.clear_denials(&self.operator(proof, peer)?, subject).await?)
            }
            Request::GrantCreate { proof, id, limit } => {
                document(&self.grant(&self.operator(proof, peer)?, *id, *limit).await?)
            }
            Request::GrantList(proof) => document(&self.grants(&self.operator(proof, peer)?).await?),
            Request::GrantRevoke(proof, id) => document(&self.revoke(&self.operator(proof, peer)?, *id).await?),
            Request::OptInShow => document(&self.switches()),
            Request::OptInSet { proof, family, on } => {
                document(&self.set_switch(&self.operator(proof, peer)?, family, *on).await?)
            }
            Request::JournalShow { proof, subject, most } => {
                document(&self.entries(&self.operator(proof, peer)?, subject, *most).await?)
            }
            Request::Surface { subject, slot, profile } => {
                let profile = profile.parse().map_err(|error| Fault::told(2, &error))?;
                document(&self.surface(subject, slot.as_ref(), profile)?)
            }
            Request::ResultsErase(proof, subject) => {
                let operator = self.operator(proof, peer)?;
                let erased = self.host.erase_results(&operator, subject.as_ref()).await;
                let erased = erased.map_err(|error| Fault::told(6, &error))?;
                document(&serde_json::json!({ "subject": subject, "erased": erased }))
            }
            Request::JournalErase(proof, subject) => {
                document(&self.erase(&self.operator(proof, peer)?, subject).await?)
            }
            Request::ChannelDeliver { channel, recipient, message } => {
                document(&self.deliver(channel, recipient.as_deref(), message).await?)
            }
            Request::ChannelCode { proof, id, channel, sender } => {
                document(&self.channel_code(&self.operator(proof, peer)?, *id, channel, sender).await?)
            }
            Request::Inbox { after, most, wait, caller } => {
                let session = self.session(caller, peer)?;
                document(&self.inbox(&session.identity().subject, *after, *most, *wait).await?)
            }
            Request::InboxErase(proof, subject) => {
                document(&self.erase_inbox(&self.operator(proof, peer)?, subject).await?)
            }
            Request::ReviewList(proof) => document(&self.open_reviews(&self.operator(proof, peer)?).await?),
            Request::ReviewClose(proof, number) => {
                document(&self.close_review(&self.operator(proof, peer)?, *number).await?)
            }
            Request::StateShow(proof, subject) => document(&self.kept(&self.operator(proof, peer)?, subject).await?),
            Request::StateErase(proof, subject) => {
                document(&self.erase_state(&self.operator(proof, peer)?, subject).await?)
            }
            Request::ScheduleList(proof) => document(&self.every_schedule(&self.operator(proof, peer)?).await?),
            Request::ScheduleCancel(proof, number) => {
                document(&self.cancel_schedule(&self.operator(proof, peer)?, *number).await?)
            }
            Request::Running(request) => self.of_running(request, peer).await,
            Request::SecretList => document(&crate::blocking::blocking(|| self.host.secret_states())),
            Request::RepositoryList => document(&self.host.repositories()),
            Request::RepositoryFetch(proof, name) => {
                let operator = self.operator(proof, peer)?;
                self.host.fetch_repository(&operator, name).await.map_err(|error| Fault::told(4, &error))?;
                document(&serde_json::json!({ "repository": name, "fetched": true }))
            }
            Request::OperatorState => document(&self.operator_state(peer)?),
            Request::OperatorSetup { password, old } => document(&self.set_password(password, old.as_ref()).await?),
            Request::OperatorLogin { password, bind_terminal } => {
                document(&self.login(password, bind_terminal.then(|| terminal(peer))).await?)
            }
            Request::OperatorLogout(proof) => document(&self.logout(&self.operator(proof, peer)?)?),
            Request::WebLink(proof) => document(&self.link(&self.operator(proof, peer)?)?),
            Request::PolicyShow => document(&self.policy()),
            Request::Policy(question) => self.asked(question, peer).await,
            Request::Providers(question) => self.of_providers(question, peer).await,
            Request::Skills(question) => self.of_skills(question, peer).await,
            Request::Mcp(request) => self.mcp(request, peer).await,
            Request::Doctor => document(&self.doctor().await),
        }
    }

    fn session(&self, caller: &Caller, peer: Option<Pid>) -> Result<Session, Fault> {
        Ok(self.asker(caller, peer)?.session)
    }

    /// Who asks. The local subject unless a client's token names another one or an operator vouches for it, and never less
    /// strict than asked.
    fn session_of(&self, caller: &Caller, client: Option<&ClientEntry>, peer: Option<Pid>) -> Result<Session, Fault> {
        // An agent's own connection: its session is the turn's, whatever else it says. What it asks after its turn nobody asks.
        if let Some(own) = &caller.client {
            match self.host.agents().session(own.connection) {
                Some(session) => return Ok(session),
                None if own.of_turn => {
                    let help = "an agent asks while its turn lasts; whoever started it may start it again";
                    return Err(Fault::refused("the agent's turn is over", help));
                }
                None => {}
            }
        }
        let subject = match (&caller.subject, client) {
            (None, None) => Subject::local(),
            (None, Some(client)) => client.subject.clone(),
            (Some(subject), Some(client)) if *subject == client.subject => subject.clone(),
            (Some(subject), None)
                if caller.client.as_ref().is_some_and(|c| self.passes.admit(c.connection, subject)) =>
            {
                subject.clone()
            }
            (Some(subject), _) => {
                let Some(proof) = &caller.proof else {
                    return Err(Fault::refused(
                        "speaking for another subject needs the operator credential",
                        "leave `--subject` out, or pass `--operator-token-file FILE`",
                    ));
                };
                self.operator(proof, peer)?;
                subject.clone()
            }
        };
        // A turn of its own, unless several calls share one: numbers that people give stay below those that we draw.
        let turn = match caller.turn {
            Some(turn) => {
                shared_turn(turn).ok_or_else(|| Fault::usage("that turn number is too large", "number turns from 1"))?
            }
            None => {
                let mut drawn = [0; 8];
                self.host.environment().fill_random(&mut drawn);
                drawn_turn(u64::from_be_bytes(drawn))
            }
        };
        let mode = caller.mode.unwrap_or(Mode::Live);
        let slot = match (&caller.slot, client) {
            (slot, None) => slot.as_ref(),
            (None, Some(client)) => client.slot.as_ref(),
            (slot, Some(client)) if *slot == client.slot => slot.as_ref(),
            (Some(slot), Some(_)) => {
                return Err(Fault::refused(
                    format!("the client's token is not for the slot `{slot}`"),
                    "leave `--slot` out, or write a token for it with `capability mcp token create --slot SLOT`",
                ));
            }
        };
        match &caller.client {
            None => self.session_for(subject, slot, mode, turn, caller.own),
            Some(client) => {
                let declarations = self.declared(&subject, slot)?;
                let id = session_of("program", &subject, slot, client.connection.as_bytes());
                let identity = SessionIdentity { id, subject, mode, origin: Origin::Model, turn };
                Ok(self.host.sessions().open_in(slot.cloned(), identity, declarations))
            }
        }
    }

    /// The same session in the slot that a question was asked in, and for those for whom it was: what that slot and what each of them
    /// declares now is what it is judged by, whoever goes on with it. Whether there is such a question of this subject is the executor's to say.
    async fn where_it_was_asked(&self, session: Session, id: ApprovalId) -> Result<Session, Fault> {
        // Whoever acts for another one goes on as it is, below that one, or not at all.
        if !session.behind().is_empty() {
            return Ok(session);
        }
        let subject = &session.identity().subject;
        let asked = self.host.asked_in(subject, id).await.map_err(approvals::broken)?;
        let another =
            |(slot, behind): &(Option<SlotPath>, Vec<_>)| slot.as_ref() != session.slot() || !behind.is_empty();
        let Some((slot, behind)) = asked.filter(another) else { return Ok(session) };
        let declarations = self.declared(subject, slot.as_ref())?;
        Ok(self.host.open_behind(&behind, slot, session.identity().clone(), declarations))
    }

    /// A session of a subject that was vouched for, with what its manifest declares now: the one of its command lines, or one of
    /// the caller's own.
    fn session_for(
        &self,
        subject: Subject,
        slot: Option<&SlotPath>,
        mode: Mode,
        turn: TurnId,
        own: Option<SessionId>,
    ) -> Result<Session, Fault> {
        let declarations = self.declared(&subject, slot)?;
        let id = session_of("command line", &subject, slot, own.as_ref().map_or(&[], |own| own.as_bytes()));
        let identity = SessionIdentity { id, subject, mode, origin: Origin::Terminal, turn };
        Ok(self.host.sessions().open_in(slot.cloned(), identity, declarations))
    }

    /// The slots of a subject's agent, after none: everywhere that it may ask from.
    pub(crate) fn slots(&self, subject: &Subject) -> Result<Vec<Option<SlotPath>>, Fault> {
        let slots = self.host.manifests().slots(subject);
        let slots = slots.map_err(|error| Fault::refused(error.what(), error.help()))?;
        Ok(core::iter::once(None).chain(slots.into_iter().map(Some)).collect())
    }

    /// What a subject declares by its manifest, for one of its slots or for none. Without a manifest it declares nothing at all.
    pub(crate) fn declared(&self, subject: &Subject, slot: Option<&SlotPath>) -> Result<Declarations, Fault> {
        if *subject == Subject::local() {
            return match slot {
                None => Ok(Declarations::everything()),
                Some(_) => Err(Fault::usage("`local` has no slots", "leave `--slot` out, or name another subject")),
            };
        }
        let manifests = self.host.manifests();
        let configured = self.host.config().subjects.get(subject);
        match (configured, manifests.read(subject, slot).map_err(|error| Fault::refused(error.what(), error.help()))?) {
            (None, Some(declarations)) => Ok(declarations),
            (Some(manifest), None) if slot.is_none() => Ok(Declarations::only(manifest.capabilities.clone())),
            (Some(_), None) => Err(Fault::refused(
                format!("subject `{subject}` has no slots: its manifest stands in `config.toml`"),
                format!("write `{}` in its place", manifests.path(subject).display()),
            )),
            (Some(_), Some(_)) => Err(Fault::refused(
                format!("subject `{subject}` has two manifests, and neither counts"),
                format!(
                    "take `[subjects.\"{subject}\"]` out of `config.toml`, or `{}` away",
                    manifests.path(subject).display()
                ),
            )),
            (None, None) => Err(Fault::refused(
                format!("subject `{subject}` has no manifest"),
                format!(
                    "write `[subjects.\"{subject}\"]` with `capabilities = [..]` into `config.toml`, or an `agent.yaml` as `{}`",
                    manifests.path(subject).display()
                ),
            )),
        }
    }

    fn operator(&self, proof: &Proof, peer: Option<Pid>) -> Result<Operator, Fault> {
        let operators = self.host.operators();
        let admitted = match proof {
            Proof::Password(password) => operators.by_password(password.reveal()),
            Proof::Token(text) => match OperatorToken::from_hex(text.reveal()) {
                Some(token) => operators.by_token(&token),
                None => {
                    return Err(Fault::refused(
                        "the operator token is not one",
                        "write a new one with `capability operator login --token-file FILE`",
                    ));
                }
            },
            Proof::Terminal => match terminal(peer) {
                Some(terminal) => operators.by_terminal(&terminal),
                None => {
                    return Err(Fault::refused(
                        "there is no terminal, hence no operator session on it",
                        "pass `--operator-token-file FILE`",
                    ));
                }
            },
        };
        admitted.map_err(|error| Fault::told(4, &error))
    }

    /// The version that a person means: the one given, or the newest. What does not exist is the executor's to refuse.
    fn version(&self, name: &str, version: Option<NonZeroU32>) -> Result<NonZeroU32, Fault> {
        Ok(version.or_else(|| self.host.executor().registry().newest(name)).unwrap_or(NonZeroU32::MIN))
    }
}

const DOCTOR: &str = "look at the host with `capability doctor`";

/// The session of one subject at this machine's command lines, or at one connection of a program, the same in every process
/// that owns the directory: turns that are named count within it. Nobody comes into the session of another subject, whatever
/// connection they name, and what one slot was granted is not another's.
fn session_of(kind: &str, subject: &Subject, slot: Option<&SlotPath>, connection: &[u8]) -> SessionId {
    let slot = slot.map(|slot| format!("slot {slot}")).unwrap_or_default();
    let mut named = Sha256::new_with_prefix(kind);
    // No subject and no slot holds a zero byte.
    let parts = [subject.as_str().as_bytes(), slot.as_bytes(), connection];
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        named.update([0]);
        named.update(part);
    }
    let hash: [u8; 32] = named.finalize().into();
    let mut id = [0; 16];
    id.iter_mut().zip(hash).for_each(|(byte, hashed)| *byte = hashed);
    SessionId::from_bytes(id)
}

/// The terminal of whoever asks.
fn terminal(peer: Option<Pid>) -> Option<TerminalBinding> {
    match peer {
        Some(peer) => TerminalBinding::of(peer.as_raw_nonzero().get()),
        None => TerminalBinding::of_this_process(),
    }
}

/// What goes to a command line or to a program holds no secret.
fn redacted(reply: Reply) -> Reply {
    let redactor = crate::secrets::redactor();
    match reply {
        Reply::Document(document) => Reply::Document(redactor.value(document)),
        Reply::Outcome(outcome) => Reply::Outcome(redactor.value(outcome)),
        Reply::Fault(Fault { message, help, exit }) => Reply::Fault(Fault {
            message: redactor.text(&message).into_owned(),
            help: help.map(|help| redactor.text(&help).into_owned()),
            exit,
        }),
    }
}

fn document<T: Serialize>(document: &T) -> Result<Reply, Fault> {
    serde_json::to_value(document).map(Reply::Document).map_err(|_| unsaid())
}

fn unsaid() -> Fault {
    Fault::broken("the answer cannot be written as JSON", "report it to the capability's author")
}

#[cfg(test)]
mod tests;
