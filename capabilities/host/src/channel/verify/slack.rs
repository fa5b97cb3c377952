//! A Slack workspace: events and commands, signed `v0` over their time and raw body.

use capability_core::Timestamp;
use serde::Deserialize;

use super::super::{Acknowledgement, Event, Message, Refused, Replay, Secret};
use super::body::{self, Form, Shape};
use super::hmac::{Encoding, behind, tag};
use super::{Delivery, Listed, Remembered, time};

/// The longest challenge.
const MAX_CHALLENGE: usize = 256;

/// How a workspace's messages are proven.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The app's signing secret.
    pub secret: Secret,
    /// The members who may write, each as `U…` or `W…`.
    pub users: Listed,
    /// The conversations they may write in, each as `C…`, `D…` or `G…`.
    pub channels: Listed,
    /// How long a message counts (Slack says five minutes), and how long a repetition is known.
    pub remembered: Remembered,
}

#[derive(Deserialize)]
struct Outer {
    #[serde(rename = "type")]
    kind: String,
    challenge: Option<String>,
    event_id: Option<String>,
    event: Option<Inner>,
}

#[derive(Deserialize)]
struct Inner {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    user: Option<String>,
    bot_id: Option<String>,
    channel: Option<String>,
    text: Option<String>,
    ts: Option<String>,
}

/// Checks the signature, the time it covers, and then who wrote what, and where.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>, now: Timestamp) -> Result<Event, Refused> {
    let headers = delivery.headers;
    let tag = tag(behind(headers.one("x-slack-signature")?, "v0=")?, Encoding::Hex)?;
    let at = headers.one("x-slack-request-timestamp")?;
    if !settings.secret.signed(&[b"v0:", at.as_bytes(), b":", delivery.body], &tag) {
        return Err(Refused::unauthenticated("the signature is another one"));
    }
    // What is signed is `v0:time:body`: digits alone end where the body begins.
    let at = time::seconds(at).ok_or(Refused::malformed("the time is not written as one"))?;
    time::fresh(at, now, settings.remembered.window)?;
    let keep = settings.remembered.keep;
    let mut event = match Shape::of(headers)? {
        Shape::Json => of_event(settings, body::json(delivery.body)?)?,
        Shape::Form => of_command(settings, &Form::read(delivery.body)?)?,
    };
    event.replays.push(Replay::new("signature", &[&tag], settings.remembered.while_fresh(), keep));
    Ok(event)
}

fn of_event(settings: &Settings, outer: Outer) -> Result<Event, Refused> {
    if outer.kind == "url_verification" {
        let plain =
            |text: &String| (1..=MAX_CHALLENGE).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'!'..=b'~'));
        let challenge = outer.challenge.filter(plain).ok_or(Refused::malformed("the challenge is no plain text"))?;
        let acknowledgement = Acknowledgement::Challenge(challenge);
        return Ok(Event { replays: vec![], items: vec![], acknowledgement, relayed: true });
    }
    let (Some(id), Some(event), "event_callback") = (&outer.event_id, outer.event, outer.kind.as_str()) else {
        return Err(Refused::malformed("it is no event"));
    };
    let (window, keep) = settings.remembered.proven_anew();
    // Signed along, and the same in every repetition.
    let mut replays = vec![Replay::new("event", &[body::id(id)?.as_bytes()], window, keep)];
    // One post that mentions the app comes as two events.
    if let (Some(channel), Some(ts)) = (&event.channel, &event.ts) {
        replays.push(Replay::new("post", &[channel.as_bytes(), ts.as_bytes()], window, keep));
    }
    Ok(Event::one(replays, message(settings, event), true))
}

fn message(settings: &Settings, event: Inner) -> Result<Message, Refused> {
    if !matches!(event.kind.as_str(), "message" | "app_mention") || event.subtype.is_some() || event.bot_id.is_some() {
        return Err(Refused::unsupported("it is no member's new message"));
    }
    let (Some(user), Some(channel), Some(text)) = (event.user, event.channel, event.text) else {
        return Err(Refused::malformed("the message lacks a part"));
    };
    listed(settings, &user, &channel)?;
    Ok(Message { sender: Some(user), place: Some(channel), title: Some(event.kind), text, forwarded: false })
}

fn listed(settings: &Settings, user: &str, channel: &str) -> Result<(), Refused> {
    settings.users.lets(body::id(user)?, "the member is not on the list")?;
    settings.channels.lets(body::id(channel)?, "the conversation is not on the list")
}

/// A command that a member typed.
fn of_command(settings: &Settings, form: &Form<'_>) -> Result<Event, Refused> {
    let Some(command) = form.get("command") else {
        return Err(Refused::unsupported("it is no command"));
    };
    let (user, channel, text) = (form.one("user_id")?, form.one("channel_id")?, form.one("text")?);
    let (window, keep) = settings.remembered.proven_anew();
    let replays = match form.get("trigger_id") {
        Some(id) => vec![Replay::new("trigger", &[body::id(id)?.as_bytes()], window, keep)],
        None => vec![],
    };
    // The form also holds an address and a token that act in the workspace: they are not handed on.
    let message = listed(settings, user, channel).map(|()| Message {
        sender: Some(user.to_owned()),
        place: Some(channel.to_owned()),
        title: Some(command.to_owned()),
        text: text.to_owned(),
        forwarded: false,
    });
    Ok(Event::one(replays, message, true))
}
