//! A webhook that is signed with a shared key, in a form that the operator describes.

use base64ct::{Base64, Encoding as _};
use capability_core::Timestamp;

use super::super::{Event, Message, Refused, Replay, Secret};
use super::{Delivery, Remembered, body, time};
use crate::hex;

/// The bytes of an HMAC-SHA-256.
pub(super) type Tag = [u8; 32];

/// How a signature is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Lower-case hexadecimal digits.
    Hex,
    /// Base64 with its padding.
    Base64,
}

/// How a webhook is signed: HMAC-SHA-256 over the body, or over its time, a full stop and the body.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The shared key.
    pub secret: Secret,
    /// The header that holds the signature, in lower case.
    pub header: String,
    /// What stands before it there, such as `sha256=`.
    pub prefix: String,
    /// How it is written.
    pub encoding: Encoding,
    /// The header that holds the time, in lower case; it is signed along.
    pub timestamp_header: Option<String>,
    /// The header by which the sender tells a repetition from another message, in lower case. It is not signed: it can make a
    /// message a repetition and never a repetition a new one.
    pub id_header: Option<String>,
    /// How long a message counts, and is known again.
    pub remembered: Remembered,
}

/// The bytes of a signature, in the one spelling it has.
pub(super) fn tag(text: &str, encoding: Encoding) -> Result<Tag, Refused> {
    let read = match encoding {
        Encoding::Hex => hex::decode::<32>(text),
        Encoding::Base64 => {
            let mut tag = [0; 32];
            Base64::decode(text, &mut tag).is_ok_and(|bytes| bytes.len() == 32).then_some(tag)
        }
    };
    read.ok_or(Refused::unauthenticated("the signature is not written as one"))
}

/// What a signature's header holds behind its prefix.
pub(super) fn behind<'a>(value: &'a str, prefix: &str) -> Result<&'a str, Refused> {
    value.strip_prefix(prefix).ok_or(Refused::unauthenticated("the signature has another prefix"))
}

/// Checks the signature, and then the time it covers.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>, now: Timestamp) -> Result<Event, Refused> {
    let headers = delivery.headers;
    let tag = tag(behind(headers.one(&settings.header)?, &settings.prefix)?, settings.encoding)?;
    let at = settings.timestamp_header.as_deref().map(|name| headers.one(name)).transpose()?;
    let signed = match at {
        Some(at) => settings.secret.signed(&[at.as_bytes(), b".", delivery.body], &tag),
        None => settings.secret.signed(&[delivery.body], &tag),
    };
    if !signed {
        return Err(Refused::unauthenticated("the signature is another one"));
    }
    let Remembered { window, keep } = settings.remembered;
    let mut replays = Vec::new();
    match at {
        Some(at) => {
            // A full stop in it could as well be the one that follows it: digits alone are signed in one way only.
            let at = time::seconds(at).ok_or(Refused::malformed("the time is not written as one"))?;
            time::fresh(at, now, window)?;
            replays.push(Replay::new("signature", &[&tag], settings.remembered.while_fresh(), keep));
        }
        None => replays.push(Replay::new("signature", &[&tag], keep, keep)),
    }
    if let Some(id) = settings.id_header.as_deref().map(|name| headers.optional(name)).transpose()?.flatten() {
        // It is not signed: what holds is the signature.
        let (window, keep) = settings.remembered.proven_anew();
        replays.push(Replay::new("id", &[body::id(id)?.as_bytes()], window, keep));
    }
    headers.content_type()?;
    let message = Message { text: body::text(delivery.body)?.to_owned(), ..Message::default() };
    Ok(Event::one(replays, Ok(message), false))
}
