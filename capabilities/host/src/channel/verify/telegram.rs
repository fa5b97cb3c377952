//! Updates of a Telegram bot: the secret in their header, then who wrote, then in which chat.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::{Event, Headers, Message, Refused, Replay, Secret};
use super::{Delivery, Remembered, body};

/// How a bot's updates are proven. There is no word for anybody: the whole world can write to a bot.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What was given as `secret_token` when the address was set.
    pub secret: Secret,
    /// Who may write, by user id.
    pub users: BTreeSet<i64>,
    /// Where they may write, by chat id; groups have negative ones.
    pub chats: BTreeSet<i64>,
    /// How long an update is known again. Nothing proves when it was written.
    pub remembered: Remembered,
}

#[derive(Deserialize)]
struct Update {
    update_id: u64,
    message: Option<Written>,
    callback_query: Option<Pressed>,
}

#[derive(Deserialize)]
struct Written {
    message_id: i64,
    from: Option<User>,
    sender_chat: Option<IgnoredAny>,
    via_bot: Option<IgnoredAny>,
    chat: Chat,
    text: Option<String>,
    caption: Option<String>,
    forward_origin: Option<IgnoredAny>,
    // As bots of an earlier interface saw it.
    forward_from: Option<IgnoredAny>,
    forward_date: Option<IgnoredAny>,
    is_automatic_forward: Option<bool>,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
}

/// A button under a message of the bot.
#[derive(Deserialize)]
struct Pressed {
    id: String,
    from: User,
    message: Option<Under>,
    data: Option<String>,
}

#[derive(Deserialize)]
struct Under {
    chat: Chat,
}

/// Compares the secret.
///
/// # Errors
/// [`Refused`].
pub fn prove(settings: &Settings, headers: Headers<'_>) -> Result<(), Refused> {
    let is = settings.secret.is(headers.one("x-telegram-bot-api-secret-token")?.as_bytes());
    if is { Ok(()) } else { Err(Refused::unauthenticated("the token is another one")) }
}

/// Compares the secret, and then looks who wrote what, and where.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>) -> Result<Event, Refused> {
    let headers = delivery.headers;
    prove(settings, headers)?;
    headers.content_type()?;
    let Update { update_id, message, callback_query } = body::json(delivery.body)?;
    let (window, keep) = settings.remembered.proven_anew();
    let mut replays = vec![Replay::new("update", &[&update_id.to_be_bytes()], window, keep)];
    let message = match (message, callback_query) {
        (Some(written), None) => {
            // The same message under another update's number is the same message.
            let id = [written.chat.id.to_be_bytes(), written.message_id.to_be_bytes()].concat();
            replays.push(Replay::new("message", &[&id], window, keep));
            self::written(settings, written)
        }
        (None, Some(pressed)) => {
            replays.push(Replay::new("pressed", &[body::id(&pressed.id)?.as_bytes()], window, keep));
            self::pressed(settings, pressed)
        }
        // Edits, posts of a channel, reactions, polls, membership: none is a new message of somebody on a list.
        _ => Err(Refused::unsupported("it is no new message")),
    };
    Ok(Event::one(replays, message, true))
}

fn listed(settings: &Settings, user: &User, chat: &Chat) -> Result<(), Refused> {
    if user.is_bot || !settings.users.contains(&user.id) {
        return Err(Refused::not_listed("the user is not on the list"));
    }
    if !settings.chats.contains(&chat.id) {
        return Err(Refused::not_listed("the chat is not on the list"));
    }
    Ok(())
}

fn written(settings: &Settings, written: Written) -> Result<Message, Refused> {
    // A message in a chat's own name has a placeholder for its writer.
    if written.sender_chat.is_some() || written.is_automatic_forward == Some(true) {
        return Err(Refused::not_listed("a chat wrote it, and no user"));
    }
    let from = written.from.ok_or(Refused::not_listed("nobody wrote it"))?;
    listed(settings, &from, &written.chat)?;
    let Some(text) = written.text.or(written.caption) else {
        return Err(Refused::unsupported("the message has no text"));
    };
    // Whoever forwards answers for forwarding it, and for no word of it.
    let forwarded = written.forward_origin.is_some()
        || written.forward_from.is_some()
        || written.forward_date.is_some()
        || written.via_bot.is_some();
    let (sender, place) = (Some(from.id.to_string()), Some(written.chat.id.to_string()));
    Ok(Message { sender, place, title: Some("message".to_owned()), text, forwarded })
}

fn pressed(settings: &Settings, pressed: Pressed) -> Result<Message, Refused> {
    let chat = pressed.message.ok_or(Refused::unsupported("the button stands under no message of a chat"))?.chat;
    listed(settings, &pressed.from, &chat)?;
    let text = pressed.data.ok_or(Refused::unsupported("the button says nothing"))?;
    let (sender, place) = (Some(pressed.from.id.to_string()), Some(chat.id.to_string()));
    Ok(Message { sender, place, title: Some("callback_query".to_owned()), text, forwarded: false })
}
