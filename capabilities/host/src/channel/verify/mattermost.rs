//! A Mattermost server's outgoing webhooks and commands, which carry a token in their body.
//!
//! A token is no signature: whoever reads one such message can write others. It is worth what the connection is worth.

use serde::Deserialize;

use super::super::{Event, Message, Refused, Replay, Secret};
use super::body::{self, Form, Shape};
use super::{Delivery, Listed, Remembered};

/// How such messages are proven.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The webhook's token.
    pub secret: Secret,
    /// Who may write, by user id.
    pub users: Listed,
    /// Where they may write, by channel id.
    pub channels: Listed,
    /// How long a post is known again. Nothing proves when it was written.
    pub remembered: Remembered,
}

#[derive(Deserialize)]
struct Post {
    token: String,
    user_id: Option<String>,
    channel_id: Option<String>,
    post_id: Option<String>,
    trigger_id: Option<String>,
    command: Option<String>,
    text: Option<String>,
    bot_id: Option<String>,
}

impl Post {
    fn of(form: &Form<'_>) -> Result<Self, Refused> {
        let part = |name: &str| form.get(name).map(str::to_owned);
        Ok(Self {
            token: form.one("token")?.to_owned(),
            user_id: part("user_id"),
            channel_id: part("channel_id"),
            post_id: part("post_id"),
            trigger_id: part("trigger_id"),
            command: part("command"),
            text: part("text"),
            bot_id: part("bot_id"),
        })
    }
}

/// Compares the token, and then looks who wrote what, and where.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>) -> Result<Event, Refused> {
    let post = match Shape::of(delivery.headers)? {
        Shape::Json => body::json(delivery.body)?,
        Shape::Form => Post::of(&Form::read(delivery.body)?)?,
    };
    if !settings.secret.is(post.token.as_bytes()) {
        return Err(Refused::unauthenticated("the token is another one"));
    }
    let id = post.post_id.as_deref().filter(|id| !id.is_empty()).or(post.trigger_id.as_deref());
    let id = body::id(id.ok_or(Refused::malformed("nothing tells it from another one"))?)?;
    let (window, keep) = settings.remembered.proven_anew();
    let replays = vec![Replay::new("post", &[id.as_bytes()], window, keep)];
    Ok(Event::one(replays, message(settings, post), true))
}

/// Without the token, and without the address that a command may be answered at.
fn message(settings: &Settings, post: Post) -> Result<Message, Refused> {
    if post.bot_id.is_some_and(|id| !id.is_empty()) {
        return Err(Refused::unsupported("a program wrote it"));
    }
    let (Some(user), Some(channel), Some(text)) = (post.user_id, post.channel_id, post.text) else {
        return Err(Refused::malformed("the message lacks a part"));
    };
    settings.users.lets(body::id(&user)?, "the user is not on the list")?;
    settings.channels.lets(body::id(&channel)?, "the channel is not on the list")?;
    Ok(Message { sender: Some(user), place: Some(channel), title: post.command, text, forwarded: false })
}
