use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::{HeaderMap, HeaderValue};
use capability_core::audit::{ChannelKind, ChannelName, ChannelNamed, MemorySink};
use capability_core::session::{SessionId, Subject, TurnId};
use capability_core::{BoxFuture, Timestamp};
use serde_json::json;

use super::{Answer, Answering, Channel, Channels, MOST_ENTRIES, Spoken};
use crate::channel::verify::{Delivery, Listed, Remembered, Verifier, matrix, webhook};
use crate::channel::{Acknowledgement, Headers, Message, Secret};
use crate::environment::HostEnvironment;
use crate::store::Database;
use crate::store::sqlite::{Arrived, InboxEntry, SqliteInbox};

/// Takes `yes` for an answer, and counts how often.
#[derive(Default)]
struct Desk(AtomicUsize);

impl Answering for Desk {
    fn answer<'a>(&'a self, _: &'a ChannelName, message: &'a Message) -> BoxFuture<'a, Spoken> {
        let said = if message.text == "yes" {
            self.0.fetch_add(1, Ordering::Relaxed);
            Spoken::Answered
        } else {
            Spoken::Nothing
        };
        Box::pin(core::future::ready(said))
    }
}

struct Door {
    channels: Channels,
    inbox: SqliteInbox,
    desk: Desk,
    _top: tempfile::TempDir,
}

const REMEMBERED: Remembered = Remembered { window: Duration::from_secs(300), keep: Duration::from_secs(86_400) };
const TOKEN: &str = "a secret for tests and nothing else";

fn subject() -> Subject {
    "agent:home".parse().unwrap()
}

fn named(name: &str, channel_kind: ChannelKind) -> ChannelNamed {
    ChannelNamed { channel: name.parse().unwrap(), channel_kind }
}

impl Door {
    async fn of(channels: Vec<(&str, Verifier)>) -> Self {
        let top = tempfile::tempdir().unwrap();
        let database = Database::open(&top.path().join("state.db")).unwrap();
        let channels = channels.into_iter().map(|(name, verifier)| {
            let named = named(name, verifier.kind());
            Channel { named, subject: subject(), verifier, per_minute: 1000 }
        });
        let (environment, inbox) = (Arc::new(HostEnvironment::new().unwrap()), database.inbox());
        let (sink, arrived) = (Arc::new(MemorySink::new()), tokio::sync::watch::Sender::new(0));
        let channels = Channels::open(channels.collect(), inbox.clone(), sink, environment, arrived).await.unwrap();
        Self { channels, inbox, desk: Desk::default(), _top: top }
    }

    /// Puts so many entries in, as if they had come by this channel.
    async fn fill(&self, channel: &ChannelNamed, count: u64) {
        let at = Timestamp::from_micros(1_700_000_000_000_000);
        let receipt = serde_json::from_value(json!({ "seq": 1, "hash": "0".repeat(64) })).unwrap();
        let entry = InboxEntry {
            channel: channel.channel.clone(),
            kind: channel.channel_kind,
            subject: subject(),
            session: SessionId::from_bytes([1; 16]),
            turn: TurnId(1),
            at,
            receipt,
            message: Message::default(),
        };
        let entries = vec![entry; usize::try_from(count).unwrap()];
        let arrived = Arrived { channel: channel.channel.clone(), entries, seen: vec![], forgotten: vec![] };
        self.inbox.store(vec![arrived]).await.unwrap();
    }

    async fn hook(&self, name: &str, text: &str) -> Answer {
        self.deliver(name, "", text).await
    }

    async fn deliver(&self, name: &str, path: &str, body: &str) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap());
        let headers = Headers::new(&headers);
        let delivery = Delivery { headers, path, recipient: None, by_owner: false, body: body.as_bytes() };
        self.channels.deliver(name, delivery, &self.desk).await
    }

    fn answers(&self) -> usize {
        self.desk.0.load(Ordering::Relaxed)
    }

    async fn held(&self) -> u64 {
        self.inbox.held(&subject()).await.unwrap().entries
    }
}

fn hook() -> Verifier {
    let proof = webhook::Proof::Bearer(Secret::new(TOKEN.into()).unwrap());
    Verifier::Webhook(webhook::Settings { proof, id_header: None, remembered: REMEMBERED })
}

fn rooms() -> Verifier {
    let (users, rooms) = (Listed::Anyone, Listed::Anyone);
    let secret = Secret::new(TOKEN.into()).unwrap();
    Verifier::Matrix(matrix::Settings { secret, users, rooms, remembered: REMEMBERED })
}

fn events(of: &[(&str, &str)]) -> String {
    let event = |(id, text): &(&str, &str)| {
        json!({ "type": "m.room.message", "event_id": id, "room_id": "!a:b", "sender": "@me:b",
            "content": { "msgtype": "m.text", "body": text } })
    };
    json!({ "events": of.iter().map(event).collect::<Vec<_>>() }).to_string()
}

const PLAIN: Answer = Answer::Accepted(Acknowledgement::Plain);

/// An answer needs no room, and a message that has none is told to come again before anything took effect twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_counts_where_the_inbox_is_full_and_once() {
    let door = Door::of(vec![("hook", hook()), ("rooms", rooms())]).await;
    door.fill(&named("hook", ChannelKind::Webhook), MOST_ENTRIES).await;
    assert_eq!(door.hook("hook", "yes").await, PLAIN);
    assert_eq!((door.answers(), door.hook("hook", "hello").await), (1, Answer::Later));
    // The same answer again is known.
    assert_eq!((door.hook("hook", "yes").await, door.answers()), (PLAIN, 1));

    // One event brings both: its message comes again, and its answer has been.
    let (path, both) = ("_matrix/app/v1/transactions/1", events(&[("$1", "yes"), ("$2", "hello")]));
    assert_eq!((door.deliver("rooms", path, &both).await, door.answers()), (Answer::Later, 2));
    door.inbox.erase(&subject()).await.unwrap();
    let taken = Answer::Accepted(Acknowledgement::EmptyObject);
    assert_eq!((door.deliver("rooms", path, &both).await, door.answers()), (taken, 2));
    assert_eq!((door.held().await, door.hook("hook", "hello").await), (1, PLAIN));
    assert_eq!(door.held().await, 2);
}

/// Of several channels that lead to one inbox none takes what the others need.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_talkative_channel_leaves_the_others_their_share() {
    let door = Door::of(vec![("loud", hook()), ("quiet", hook())]).await;
    door.fill(&named("loud", ChannelKind::Webhook), MOST_ENTRIES / 2).await;
    assert_eq!(door.hook("loud", "more").await, Answer::Later);
    assert_eq!(door.hook("quiet", "heard").await, PLAIN);
    // One that is alone has all of it.
    let alone = Door::of(vec![("loud", hook())]).await;
    alone.fill(&named("loud", ChannelKind::Webhook), MOST_ENTRIES / 2).await;
    assert_eq!(alone.hook("loud", "more").await, PLAIN);
}

/// Nobody can send it once more who has not proven itself anew: what is known of it makes room after an hour.
#[test]
fn what_is_proven_anew_is_kept_strictly_for_an_hour() {
    let (window, keep) = REMEMBERED.proven_anew();
    assert_eq!((window, keep), (Duration::from_secs(3600), REMEMBERED.keep));
    let short = Remembered { keep: Duration::from_secs(60), ..REMEMBERED };
    assert_eq!(short.proven_anew(), (short.keep, short.keep));
}
