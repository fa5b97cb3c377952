//! A webhook whose sender has a token, or nothing where the operator wrote that out.

use super::super::{Event, Headers, Message, Refused, Replay, Secret};
use super::{Delivery, Remembered, body};

/// What proves the sender.
#[derive(Debug, Clone)]
pub enum Proof {
    /// `Authorization: Bearer` with this token.
    Bearer(Secret),
    /// A header of this name, in lower case, with this token and nothing else.
    Header(String, Secret),
    /// Nothing: whoever reaches the address. The operator wrote `allow_unauthenticated = true`.
    Nothing,
}

/// How a webhook is proven.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What proves the sender.
    pub proof: Proof,
    /// The header by which the sender tells a repetition from another message, in lower case. A message without one is known
    /// again by its body.
    pub id_header: Option<String>,
    /// How long it is known again.
    pub remembered: Remembered,
}

/// Compares the token.
///
/// # Errors
/// [`Refused`].
pub fn prove(settings: &Settings, headers: Headers<'_>) -> Result<(), Refused> {
    let proven = match &settings.proof {
        Proof::Bearer(secret) => secret.is(headers.bearer()?.as_bytes()),
        Proof::Header(name, secret) => secret.is(headers.one(name)?.as_bytes()),
        Proof::Nothing => true,
    };
    if proven { Ok(()) } else { Err(Refused::unauthenticated("the token is another one")) }
}

/// Takes the token and the body.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>) -> Result<Event, Refused> {
    let headers = delivery.headers;
    prove(settings, headers)?;
    headers.content_type()?;
    let text = body::text(delivery.body)?;
    let id = settings.id_header.as_deref().map(|name| headers.optional(name)).transpose()?.flatten();
    let (window, keep) = settings.remembered.proven_anew();
    let replay = match id {
        Some(id) => Replay::new("id", &[body::id(id)?.as_bytes()], window, keep),
        None => Replay::new("body", &[delivery.body], window, keep),
    };
    let message = Message { text: text.to_owned(), ..Message::default() };
    Ok(Event::one(vec![replay], Ok(message), false))
}
