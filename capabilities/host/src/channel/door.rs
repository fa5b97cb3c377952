//! The one way from outside into an inbox.
//!
//! Proof first, then the lists, then how much, then whether it was seen before; then its record, and then the entry, with
//! which what it is known by is written in one transaction. Whoever sent it is told that all is well after that, and not
//! before.

use std::collections::BTreeMap;
use std::sync::Arc;

use capability_core::audit::{ChannelKind, ChannelName, ChannelNamed, ChannelRule, Event as Logged, Record, Sink};
use capability_core::session::{Origin, SessionId, Subject};
use capability_core::store::StoreFault;
use capability_core::{BoxFuture, Environment, Timestamp};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::limits::{Rate, Refusals, Told};
use super::replay::{Known, MOST_SEEN, NotNew, Reserved};
use super::verify::{Delivery, Verifier, prove_further, prove_head, verify};
use super::writer::Writer;
use super::{Acknowledgement, Event, Headers, MAX_BODY, Message, Refused, Secret};
use crate::protocol::drawn_turn;
use crate::store::sqlite::{Arrived, InboxEntry, SqliteInbox};

/// How much one subject's inbox holds, give or take what arrives at the same moment.
pub const MOST_ENTRIES: u64 = 20_000;
pub const MOST_BYTES: u64 = 256 * 1024 * 1024;

const STORE: &str = "the store does not answer";

/// What a sender is told. There are three answers, and which of them says nothing about which rule it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// All is well.
    Accepted(Acknowledgement),
    /// It is not taken in, and will not be.
    Refused,
    /// It is not taken in now. Only whoever has proven something is told so.
    Later,
}

/// What a person at a channel says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    /// Nothing: it is a message like any other.
    Nothing,
    /// An answer, and it counts.
    Answered,
    /// What has the form of an answer, and is none.
    Wrong,
    /// An answer that could not be recorded or stored.
    Unavailable,
}

/// Where answers go.
pub trait Answering: Sync {
    /// Takes what this sender wrote on this channel for an answer, if it is one.
    fn answer<'a>(&'a self, channel: &'a ChannelName, message: &'a Message) -> BoxFuture<'a, Spoken>;
}

/// One configured channel, ready to take something in.
#[derive(Debug)]
pub struct Channel {
    /// Its name and kind.
    pub named: ChannelNamed,
    /// Whose inbox it leads to.
    pub subject: Subject,
    /// What it takes for proof.
    pub verifier: Verifier,
    /// How many messages it takes in a minute.
    pub per_minute: u32,
}

struct Open {
    channel: Channel,
    rate: Rate,
    known: Known,
}

/// Every channel of a host.
pub struct Channels {
    open: BTreeMap<String, Open>,
    inbox: SqliteInbox,
    writer: Writer,
    sink: Arc<dyn Sink>,
    environment: Arc<dyn Environment>,
    refusals: Refusals,
    /// Nobody's: a name that is no channel's costs a sender as much time as one that is.
    decoy: Option<Secret>,
    /// Told whenever an entry arrives.
    arrived: watch::Sender<u64>,
}

impl core::fmt::Debug for Channels {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Channels({})", self.open.len())
    }
}

impl Channels {
    /// Opens channels over what they have seen.
    ///
    /// # Errors
    /// When the store does not answer: a channel that knows nothing would take in what was taken in before.
    pub async fn open(
        channels: Vec<Channel>,
        inbox: SqliteInbox,
        sink: Arc<dyn Sink>,
        environment: Arc<dyn Environment>,
        arrived: watch::Sender<u64>,
    ) -> Result<Self, StoreFault> {
        let now = environment.now();
        let mut open = BTreeMap::new();
        for channel in channels {
            let known = Known::new(MOST_SEEN, inbox.seen(&channel.named.channel, now, MOST_SEEN).await?);
            let rate = Rate::new(channel.per_minute, now);
            open.insert(channel.named.channel.to_string(), Open { channel, rate, known });
        }
        let mut decoy = vec![0; 32];
        environment.fill_random(&mut decoy);
        Ok(Self {
            open,
            writer: Writer::start(inbox.clone()),
            inbox,
            sink,
            environment,
            refusals: Refusals::default(),
            decoy: Secret::new(decoy),
            arrived,
        })
    }

    /// How many channels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The kind of the channel of this name.
    #[must_use]
    pub fn kind(&self, name: &str) -> Option<ChannelKind> {
        self.open.get(name).map(|open| open.channel.named.channel_kind)
    }

    /// The channel of this kind, when there is exactly one: for senders whose address has no room for a name.
    #[must_use]
    pub fn only(&self, kind: ChannelKind) -> Option<&ChannelName> {
        let mut of = self.open.values().map(|open| &open.channel.named).filter(|named| named.channel_kind == kind);
        let first = of.next()?;
        of.next().is_none().then_some(&first.channel)
    }

    /// Takes a message in, or refuses it. Every refusal is in the audit, with its rule.
    pub async fn deliver(&self, name: &str, delivery: Delivery<'_>, desk: &dyn Answering) -> Answer {
        let now = self.environment.now();
        let Some(open) = self.open.get(name) else {
            if let Some(decoy) = &self.decoy {
                core::hint::black_box(decoy.signed(&[delivery.body], &[0; 32]));
            }
            return self.refuse(None, Refused::new(ChannelRule::UnknownChannel, "no channel has that name"), now);
        };
        let named = &open.channel.named;
        if delivery.body.len() > MAX_BODY {
            return self.too_large(name);
        }
        match verify(&open.channel.verifier, delivery, now) {
            Ok(event) => match prove_further(&open.channel.verifier, delivery.body, &event).await {
                Ok(()) => self.take(open, event, desk, now).await,
                Err(refused) => {
                    let is_for_now = refused.rule == ChannelRule::Unavailable;
                    let answer = self.refuse(Some(named), refused, now);
                    match (is_for_now, event.relayed) {
                        (true, _) => Answer::Later,
                        (false, true) => Answer::Accepted(event.acknowledgement),
                        (false, false) => answer,
                    }
                }
            },
            Err(refused) => self.refuse(Some(named), refused, now),
        }
    }

    /// Refuses what its head alone shows to be nobody's that the channel knows; what is left is read, and proven whole.
    pub fn refused_unread(&self, name: &str, headers: Headers<'_>) -> Option<Answer> {
        // A name that is no channel's is read like one that is: how it is answered tells nothing.
        let open = self.open.get(name)?;
        let refused = prove_head(&open.channel.verifier, headers).err()?;
        Some(self.refuse(Some(&open.channel.named), refused, self.environment.now()))
    }

    /// Refuses a message that was too large to be read to its end.
    pub fn too_large(&self, name: &str) -> Answer {
        self.refuse_unread(name, Refused::new(ChannelRule::TooLarge, "the body is above the cap"))
    }

    /// Refuses a request that is no message at all.
    pub fn no_message(&self, name: &str, detail: &'static str) -> Answer {
        self.refuse_unread(name, Refused::malformed(detail))
    }

    fn refuse_unread(&self, name: &str, refused: Refused) -> Answer {
        let named = self.open.get(name).map(|open| &open.channel.named);
        let unknown = Refused::new(ChannelRule::UnknownChannel, "no channel has that name");
        self.refuse(named, if named.is_some() { refused } else { unknown }, self.environment.now())
    }

    /// Records what was counted without a record of its own. For now and then, and before the end.
    pub fn settle(&self) {
        let now = self.environment.now();
        self.refusals.waiting().into_iter().for_each(|told| self.record_refusals(told, now));
    }

    async fn take(&self, open: &Open, event: Event, desk: &dyn Answering, now: Timestamp) -> Answer {
        let named = &open.channel.named;
        let (mut answer, mut messages) = (Answer::Accepted(event.acknowledgement), Vec::new());
        for item in event.items {
            match item.message {
                Ok(message) => messages.push((item.replays, message)),
                Err(refused) => {
                    let refused = self.refuse(Some(named), refused, now);
                    if !event.relayed {
                        answer = refused;
                    }
                }
            }
        }
        // What brings nothing uses nothing up: whoever is not on a list cannot fill what those who are need.
        if messages.is_empty() {
            return answer;
        }
        let of_event = match open.known.reserve(&event.replays, now) {
            Ok(reserved) => reserved,
            Err(why) => return self.not_new(named, why, answer, now),
        };
        let mut new = Vec::new();
        for (replays, message) in messages {
            match open.known.reserve(&replays, now) {
                Ok(reserved) => new.push((message, reserved)),
                Err(why) => {
                    if let Answer::Later = self.not_new(named, why, Answer::Refused, now) {
                        return Answer::Later;
                    }
                }
            }
        }
        if !open.rate.take(new.len(), now) {
            self.refuse(Some(named), Refused::new(ChannelRule::RateLimited, "more than the channel may take in"), now);
            return Answer::Later;
        }
        // Before anything takes effect: an answer that did is not told to come again.
        let room = self.room(&open.channel).await;
        let (mut heard, mut reserved, mut answered) = (Vec::new(), Vec::new(), Vec::new());
        for (message, known_by) in new {
            // A code is nobody's to read, used or not: it goes into no inbox.
            let refused = match desk.answer(&named.channel, &message).await {
                Spoken::Nothing => {
                    heard.push(message);
                    reserved.push(known_by);
                    continue;
                }
                Spoken::Answered => {
                    answered.push(known_by);
                    continue;
                }
                Spoken::Wrong => {
                    Refused::new(ChannelRule::WrongCode, "there is no such code, or not for whoever sent it")
                }
                Spoken::Unavailable => Refused::new(ChannelRule::Unavailable, "the answer did not take effect"),
            };
            answered.push(known_by);
            self.refuse(Some(named), refused, now);
        }
        let without_room = if heard.is_empty() { None } else { room.err() };
        let entered = match without_room {
            // What was answered is known again, and the rest of the event may come once more.
            Some(detail) => self.enter(&open.channel, Vec::new(), answered, now).await.and(Err(detail)),
            None => {
                let alone = heard.is_empty();
                reserved.extend(answered);
                reserved.push(of_event);
                let entered = self.enter(&open.channel, heard, reserved, now).await;
                // Nothing of it is left to come again for.
                if alone { Ok(()) } else { entered }
            }
        };
        match entered {
            Ok(()) => answer,
            Err(detail) => {
                self.refuse(Some(named), Refused::new(ChannelRule::Unavailable, detail), now);
                Answer::Later
            }
        }
    }

    /// Whether the subject's inbox has room for more of this channel: one that is talkative keeps no other one out.
    async fn room(&self, channel: &Channel) -> Result<(), &'static str> {
        let held = self.inbox.held(&channel.subject).await.map_err(|StoreFault| STORE)?;
        if held.entries >= MOST_ENTRIES || held.bytes >= MOST_BYTES {
            return Err("the inbox is full");
        }
        let beside = self.open.values().filter(|open| open.channel.subject == channel.subject).count() as u64;
        if beside > 1 && held.entries >= MOST_ENTRIES / beside {
            let own = self.inbox.held_by(&channel.subject, &channel.named.channel).await;
            if own.map_err(|StoreFault| STORE)? >= MOST_ENTRIES / beside {
                return Err("the channel's share of the inbox is full");
            }
        }
        Ok(())
    }

    /// Whoever proves the same once more is told the same once more.
    fn not_new(&self, named: &ChannelNamed, why: NotNew, before: Answer, now: Timestamp) -> Answer {
        let (rule, detail, answer) = match why {
            NotNew::Before => (ChannelRule::Replayed, "it was taken in before", before),
            NotNew::Meanwhile => (ChannelRule::Replayed, "it is being taken in at this moment", Answer::Later),
            NotNew::Full => (ChannelRule::Unavailable, "nothing more can be known again", Answer::Later),
        };
        self.refuse(Some(named), Refused::new(rule, detail), now);
        answer
    }

    /// Records each message, and then stores all of them.
    async fn enter(
        &self,
        channel: &Channel,
        messages: Vec<Message>,
        reserved: Vec<Reserved>,
        now: Timestamp,
    ) -> Result<(), &'static str> {
        let mut submitted = Vec::new();
        for message in messages {
            let session = session_of(&channel.named.channel, &message);
            let mut drawn = [0; 8];
            self.environment.fill_random(&mut drawn);
            let turn = drawn_turn(u64::from_be_bytes(drawn));
            let event = Logged::ChannelEntry {
                channel: channel.named.clone(),
                subject: channel.subject.clone(),
                session,
                origin: Origin::Channel,
                turn,
                bytes: message.text.len() as u64,
            };
            submitted.push((message, session, turn, self.sink.submit(Record { at: now, event })));
        }
        let mut entries = Vec::new();
        for (message, session, turn, submission) in submitted {
            let receipt = submission.durable().await.map_err(|_| "the audit log cannot take its record")?;
            let ChannelNamed { channel: name, channel_kind: kind } = channel.named.clone();
            let subject = channel.subject.clone();
            entries.push(InboxEntry { channel: name, kind, subject, session, turn, at: now, receipt, message });
        }
        let seen = reserved.iter().flat_map(|reserved| reserved.seen().iter().copied()).collect();
        let forgotten = reserved.iter().flat_map(|reserved| reserved.forgotten().iter().copied()).collect();
        let arrived = Arrived { channel: channel.named.channel.clone(), entries, seen, forgotten };
        self.writer.write(arrived).await.map_err(|StoreFault| STORE)?;
        reserved.into_iter().for_each(Reserved::keep);
        self.arrived.send_modify(|count| *count = count.wrapping_add(1));
        Ok(())
    }

    fn refuse(&self, named: Option<&ChannelNamed>, refused: Refused, now: Timestamp) -> Answer {
        let name = named.map(|named| named.channel.as_str());
        tracing::debug!(channel = name, rule = %refused.rule, detail = refused.detail, "a channel refuses a message");
        if let Some(told) = self.refusals.count(named, refused.rule, now) {
            self.record_refusals(told, now);
        }
        Answer::Refused
    }

    /// Nobody waits for it: a log that cannot take it lets nothing in either.
    fn record_refusals(&self, Told { channel, rule, count }: Told, now: Timestamp) {
        drop(self.sink.submit(Record { at: now, event: Logged::ChannelRefusal { channel, rule, count } }));
    }
}

/// The session of one conversation: what one sender writes in one place of one channel.
fn session_of(channel: &ChannelName, message: &Message) -> SessionId {
    let mut named = Sha256::new_with_prefix("channel\0");
    for part in [Some(channel.as_str()), message.place.as_deref(), message.sender.as_deref()] {
        let part = part.unwrap_or_default();
        named.update((part.len() as u64).to_be_bytes());
        named.update(part);
    }
    let hash: [u8; 32] = named.finalize().into();
    let mut id = [0; 16];
    id.iter_mut().zip(hash).for_each(|(byte, hashed)| *byte = hashed);
    SessionId::from_bytes(id)
}

#[cfg(test)]
mod tests;
