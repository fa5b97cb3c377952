//! A Matrix homeserver that pushes what happens in its rooms, as it does to an application service.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::{Acknowledgement, Event, Headers, Item, Message, Refused, Replay, Secret};
use super::{Delivery, Listed, Remembered, body};

/// Where transactions are put, behind the address that the homeserver was given.
pub const TRANSACTIONS: &str = "_matrix/app/v1/transactions/";

/// The most events of one transaction.
const MAX_EVENTS: usize = 256;

/// How a homeserver is proven.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The registration's `hs_token`.
    pub secret: Secret,
    /// Who may write, each as `@name:server`.
    pub users: Listed,
    /// The rooms they may write in, each as `!id:server`.
    pub rooms: Listed,
    /// How long a transaction and its events are known again.
    pub remembered: Remembered,
}

#[derive(Deserialize)]
struct Transaction<'a> {
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct RoomEvent {
    #[serde(rename = "type")]
    kind: String,
    event_id: String,
    room_id: String,
    sender: String,
    state_key: Option<String>,
    content: Box<RawValue>,
}

#[derive(Deserialize)]
struct Content {
    msgtype: String,
    body: String,
    #[serde(rename = "m.relates_to")]
    relates_to: Option<Relation>,
}

#[derive(Deserialize)]
struct Relation {
    rel_type: Option<String>,
}

/// Compares the token.
///
/// # Errors
/// [`Refused`].
pub fn prove(settings: &Settings, headers: Headers<'_>) -> Result<(), Refused> {
    // A token in the address, as earlier homeservers sent it, stands in every log on the way.
    let is = settings.secret.is(headers.bearer()?.as_bytes());
    if is { Ok(()) } else { Err(Refused::unauthenticated("the token is another one")) }
}

/// Compares the token, and then looks at each event of the transaction by itself.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>) -> Result<Event, Refused> {
    let headers = delivery.headers;
    prove(settings, headers)?;
    headers.content_type()?;
    let id = delivery.path.strip_prefix(TRANSACTIONS);
    let id = body::id(id.ok_or(Refused::malformed("the address is no transaction's"))?)?;
    if id.contains(['/', '%']) {
        return Err(Refused::malformed("the transaction's id is no plain text"));
    }
    let Transaction { events } = body::json(delivery.body)?;
    if events.len() > MAX_EVENTS {
        return Err(Refused::malformed("the transaction has too many events"));
    }
    let (window, keep) = settings.remembered.proven_anew();
    let items = events.into_iter().map(|event| item(settings, event)).collect();
    let replays = vec![Replay::new("transaction", &[id.as_bytes()], window, keep)];
    Ok(Event { replays, items, acknowledgement: Acknowledgement::EmptyObject, relayed: true })
}

fn item(settings: &Settings, raw: &RawValue) -> Item {
    let nothing = |refused| Item { replays: vec![], message: Err(refused) };
    let Ok(event) = serde_json::from_str::<RoomEvent>(raw.get()) else {
        return nothing(Refused::malformed("it is no room's event"));
    };
    let id = match body::id(&event.event_id) {
        Ok(id) => id,
        Err(refused) => return nothing(refused),
    };
    let (window, keep) = settings.remembered.proven_anew();
    let replays = vec![Replay::new("event", &[id.as_bytes()], window, keep)];
    Item { replays, message: message(settings, event) }
}

fn message(settings: &Settings, event: RoomEvent) -> Result<Message, Refused> {
    settings.rooms.lets(body::id(&event.room_id)?, "the room is not on the list")?;
    settings.users.lets(body::id(&event.sender)?, "the user is not on the list")?;
    if event.kind == "m.room.encrypted" {
        return Err(Refused::unsupported("it is encrypted, and nobody here could tell what it says"));
    }
    if event.kind != "m.room.message" || event.state_key.is_some() {
        return Err(Refused::unsupported("it is no message"));
    }
    let content: Content = serde_json::from_str(event.content.get())
        .map_err(|_| Refused::malformed("the message has no text, or has it twice"))?;
    let replaces = content.relates_to.and_then(|relation| relation.rel_type).is_some_and(|kind| kind == "m.replace");
    // A notice is a program's: answering it is how two programs talk for ever.
    if replaces || !matches!(content.msgtype.as_str(), "m.text" | "m.emote") {
        return Err(Refused::unsupported("it is no new text of a person"));
    }
    Ok(Message {
        sender: Some(event.sender),
        place: Some(event.room_id),
        title: Some(content.msgtype),
        text: content.body,
        forwarded: false,
    })
}
