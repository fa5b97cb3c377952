//! Channels and inboxes.

use core::time::Duration;

use base64ct::{Base64, Encoding as _};
use capability_core::approval::{ApprovalId, ApprovalStatus, Operator};
use capability_core::audit::ChannelName;
use capability_core::observation::{Content, Observation, Trust};
use capability_core::policy::Verdict;
use capability_core::session::{Origin, SessionIdentity, Subject};
use capability_core::store::Answer;
use capability_core::{BoxFuture, Session};
use serde_json::{Value, json};

use super::Service;
use super::approvals::{LIST, broken};
use crate::channel::verify::Delivery;
use crate::channel::{self, Answering, Channels, Headers, Message, Spoken};
use crate::protocol::{Caller, ChannelCode, Delivered, Fault, InboxPart, InboxRow, Probe};
use crate::store::sqlite::InboxEntry;
use crate::words::counted;

/// The most entries that are told at a time.
pub const MOST_TOLD: u32 = 100;
/// How long one who follows waits before it has to ask anew.
const WAIT: Duration = Duration::from_secs(30);

impl Service {
    /// The channels, opened when they are first asked for.
    pub(crate) async fn channels(&self) -> Result<&Channels, Fault> {
        self.channels
            .get_or_try_init(|| {
                let host = &self.host;
                let secrets = host.secrets();
                let (inbox, sink, environment) = (host.inbox().clone(), host.sink(), host.environment().clone());
                let arrivals = host.arrivals().clone();
                async move {
                    Channels::of(&host.config().channels().each, &secrets, inbox, sink, environment, arrivals).await
                }
            })
            .await
    }

    /// Records what is not yet on record, and erases what was kept for long enough.
    pub(super) async fn settle_channels(&self) {
        if let Some(channels) = self.channels.get() {
            channels.settle();
        }
        let retain = self.host.config().channels().retain;
        // A store that does not answer has said so itself; the next look tries again.
        let _ = self.host.inbox().forget(self.host.environment().now(), retain).await;
    }

    /// Takes in what a program of the owner hands on.
    pub(super) async fn deliver(&self, name: &str, recipient: Option<&str>, message: &str) -> Result<Value, Fault> {
        let body = Base64::decode_vec(message)
            .map_err(|_| Fault::usage("the message is not in Base64", "use the same version on both sides"))?;
        let channels = self.channels().await?;
        if channels.kind(name) != Some(capability_core::audit::ChannelKind::Email) {
            return Err(Fault::usage(
                "no channel for mail has that name",
                "write `[channels.NAME]` with `kind = \"email\"` into `config.toml`",
            ));
        }
        let head = axum::http::HeaderMap::new();
        let delivery = Delivery { headers: Headers::new(&head), path: "", recipient, by_owner: true, body: &body };
        let delivered = match channels.deliver(name, delivery, self).await {
            channel::Answer::Accepted(_) => Delivered::Done,
            channel::Answer::Refused => Delivered::Refused,
            channel::Answer::Later => Delivered::Later,
        };
        Ok(json!({ "delivered": delivered }))
    }

    /// What came in for a subject after an entry; waits for it a while where that is asked for and there is room to.
    pub(crate) async fn inbox(&self, subject: &Subject, after: i64, most: u32, wait: bool) -> Result<InboxPart, Fault> {
        let most = most.clamp(1, MOST_TOLD);
        let mut arrivals = self.host.arrivals().subscribe();
        arrivals.mark_unchanged();
        let mut part = self.entries_after(subject, after, most).await?;
        let Ok(_room) = self.waiters.try_acquire() else { return Ok(part) };
        let until = tokio::time::Instant::now() + WAIT;
        while wait && part.entries.is_empty() {
            match tokio::time::timeout_at(until, arrivals.changed()).await {
                Ok(Ok(())) => part = self.entries_after(subject, after, most).await?,
                _ => break,
            }
        }
        Ok(part)
    }

    async fn entries_after(&self, subject: &Subject, after: i64, most: u32) -> Result<InboxPart, Fault> {
        let inbox = self.host.inbox();
        let entries = inbox.after(subject, after, most).await.map_err(broken)?;
        let total = inbox.held(subject).await.map_err(broken)?.entries;
        let entries = entries.into_iter().map(|(seq, entry)| row(seq, entry)).collect::<Result<_, _>>()?;
        Ok(InboxPart { subject: subject.clone(), total, entries })
    }

    pub(super) async fn erase_inbox(&self, operator: &Operator, subject: &Subject) -> Result<Value, Fault> {
        let erased = self.host.erase_inbox(operator, subject).await.map_err(|error| Fault::told(6, &error))?;
        Ok(json!({ "subject": subject, "erased": erased }))
    }

    /// The session of an entry, for a call that its subject makes because of it: what comes of a message is judged as such.
    pub(super) async fn session_of_entry(&self, session: Session, caller: &Caller) -> Result<Session, Fault> {
        let Some(seq) = caller.entry else { return Ok(session) };
        let SessionIdentity { subject, mode, .. } = session.identity().clone();
        let entry = self.host.inbox().find(&subject, seq).await.map_err(broken)?;
        let entry = entry.ok_or_else(|| {
            Fault::refused(
                format!("the inbox of `{subject}` has no entry {seq}"),
                "see what came in with `capability inbox --subject NAME`",
            )
        })?;
        let InboxEntry { session: id, turn, .. } = entry;
        let identity = SessionIdentity { id, subject, mode, origin: Origin::Channel, turn };
        Ok(self.host.sessions().open(identity, session.declarations().clone()))
    }

    /// A code by which somebody at a channel may answer this question, once.
    pub(super) async fn channel_code(
        &self,
        operator: &Operator,
        id: ApprovalId,
        channel: &str,
        sender: &str,
    ) -> Result<ChannelCode, Fault> {
        let settings = self.host.config().channels().each.iter().find(|one| one.name.as_str() == channel);
        let bound = settings.filter(|one| one.operators.contains(sender)).ok_or_else(|| {
            Fault::refused(
                "nobody of that name may answer on that channel",
                "list the id under `operators` of the channel in `config.toml`",
            )
        })?;
        let expires_at = self.answerable(operator, id).await?;
        let issued = self.codes.issue((id, expires_at), &bound.name, sender, self.host.environment().as_ref());
        let (code, expires_at) = issued.ok_or_else(|| {
            Fault::refused("too many codes are in use", "answer with `capability approvals`, or wait ten minutes")
        })?;
        Ok(ChannelCode { code, expires_at })
    }

    /// Until when a question can be answered by a channel: only one that a rule or default asks, and never one that takes a
    /// fresh answer.
    async fn answerable(&self, operator: &Operator, id: ApprovalId) -> Result<capability_core::Timestamp, Fault> {
        let detail = self.show(operator, id).await?;
        let Some(pending) = detail.content.filter(|_| detail.summary.status == ApprovalStatus::Pending) else {
            return Err(Fault::refused("that question does not wait for an answer", LIST));
        };
        if pending.verdict != Verdict::Ask {
            return Err(Fault::refused(
                "that question takes a fresh answer, and a channel never gives one",
                "answer it with `capability approvals`, or in the approval centre",
            ));
        }
        Ok(pending.expires_at)
    }

    async fn answer_by_code(&self, channel: &ChannelName, message: &Message) -> Spoken {
        let Some(said) = channel::said(&message.text) else { return Spoken::Nothing };
        let settings = self.host.config().channels().each.iter().find(|one| one.name == *channel);
        let sender = message.sender.as_deref().unwrap_or_default();
        // Whoever may not answer says what anybody may say; what is handed on is nobody's own word.
        if !settings.is_some_and(|one| one.operators.contains(sender)) || message.forwarded {
            return Spoken::Nothing;
        }
        let Some(id) = self.codes.take(said, channel, sender, self.host.environment().now()) else {
            return Spoken::Wrong;
        };
        let operator = self.host.operators().admit_by_channel();
        // Once more: what it takes may have changed while the code was on its way.
        if self.answerable(&operator, id).await.is_err() {
            return Spoken::Wrong;
        }
        let answer = if said.yes { Answer::Approve } else { Answer::Deny { reason: None, note: None } };
        match self.answered(&operator, id, answer).await {
            Ok(_) => Spoken::Answered,
            Err(_) => Spoken::Unavailable,
        }
    }

    /// Which channels there are, and whether they start.
    pub(super) async fn channels_probe(&self) -> Probe {
        let settings = self.host.config().channels();
        let count = settings.each.len();
        if count == 0 {
            return super::doctor::ok("channels", "none: nothing comes in from outside".into());
        }
        match self.channels().await {
            Err(fault) => super::doctor::failed("channels", fault.message, fault.help.unwrap_or_default()),
            Ok(_) => {
                let found = format!(
                    "{}, reached at {} while `serve` runs",
                    counted(count, "channel", "channels"),
                    settings.listen
                );
                let open = settings.each.iter().find(|one| one.is_open());
                match open {
                    _ if !settings.is_loopback() => super::doctor::weak(
                        "channels",
                        format!("{found}, open to other machines, without encryption"),
                        "put a proxy that speaks TLS before it, and listen at `127.0.0.1`",
                    ),
                    Some(open) => super::doctor::weak(
                        "channels",
                        format!("{found}; whoever reaches `{}` is let in", open.name),
                        "give it a `secret`",
                    ),
                    None => super::doctor::ok("channels", found),
                }
            }
        }
    }
}

impl Answering for Service {
    fn answer<'a>(&'a self, channel: &'a ChannelName, message: &'a Message) -> BoxFuture<'a, Spoken> {
        Box::pin(self.answer_by_code(channel, message))
    }
}

/// An entry as it is told. Whoever signed it, somebody outside wrote it: it is trusted like any page of the public network.
fn row(seq: i64, entry: InboxEntry) -> Result<InboxRow, Fault> {
    let InboxEntry { channel, kind, session, turn, at, receipt, message, .. } = entry;
    let unsaid = |_| super::unsaid();
    let mut content = serde_json::to_value(&message).map_err(unsaid)?;
    if let Some(content) = content.as_object_mut() {
        content.insert("channel".to_owned(), channel.as_str().into());
        content.insert("kind".to_owned(), kind.as_str().into());
    }
    let observation = Observation {
        trust: Trust::PublicNetwork,
        capability: None,
        version: None,
        receipt: Some(receipt),
        content: Content::Result(content.to_string()),
    };
    Ok(InboxRow {
        seq,
        at,
        channel: channel.to_string(),
        kind: kind.to_string(),
        session: session.to_string(),
        turn: turn.0,
        origin: Origin::Channel,
        line: observation.to_string(),
        observation: serde_json::to_value(&observation).map_err(unsaid)?,
    })
}
