//! Webhooks signed as the Standard Webhooks specification says: `webhook-id`, `webhook-timestamp`, `webhook-signature`.

use base64ct::{Base64, Encoding as _};
use capability_core::Timestamp;

use super::super::{Event, MIN_SECRET_BYTES, Message, Refused, Replay, Secret};
use super::hmac::{Encoding, tag};
use super::{Delivery, Remembered, body, time};

/// The most signatures of one message: a sender that changes its key signs with both for a while.
const MAX_SIGNATURES: usize = 8;

/// How such webhooks are proven.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The key: what stands behind `whsec_`, decoded.
    pub secret: Secret,
    /// How long a message counts, and is known again.
    pub remembered: Remembered,
}

/// The key from its text, `whsec_` and Base64; `None` for another text, or a key shorter than [`MIN_SECRET_BYTES`].
#[must_use]
pub fn key(text: &[u8]) -> Option<Secret> {
    let text = core::str::from_utf8(text).ok()?.strip_prefix("whsec_")?;
    let mut bytes = Base64::decode_vec(text).ok()?;
    if bytes.len() < MIN_SECRET_BYTES {
        crate::secrets::wipe(&mut bytes);
        return None;
    }
    Secret::new(bytes)
}

/// Checks the signatures, and then the time they cover.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>, now: Timestamp) -> Result<Event, Refused> {
    let headers = delivery.headers;
    let id = headers.one("webhook-id")?;
    let at = headers.one("webhook-timestamp")?;
    // What is signed is `id.time.body`. A full stop in the first two would let the same signature stand for another id and
    // another body.
    if id.contains('.') || at.contains('.') {
        return Err(Refused::malformed("the id or the time holds a full stop"));
    }
    let mut known = headers.one("webhook-signature")?.split(' ').filter_map(|one| one.strip_prefix("v1,"));
    let parts: [&[u8]; 5] = [id.as_bytes(), b".", at.as_bytes(), b".", delivery.body];
    let signed = |one: &str| tag(one, Encoding::Base64).is_ok_and(|tag| settings.secret.signed(&parts, &tag));
    // Each is looked at, whichever fits.
    if known.by_ref().take(MAX_SIGNATURES).filter(|one| signed(one)).count() == 0 {
        return Err(Refused::unauthenticated("no signature is right"));
    }
    let at = time::seconds(at).ok_or(Refused::malformed("the time is not written as one"))?;
    time::fresh(at, now, settings.remembered.window)?;
    headers.content_type()?;
    // The id is signed, and a repetition keeps it.
    let Remembered { keep, .. } = settings.remembered;
    let replay = Replay::new("id", &[body::id(id)?.as_bytes()], settings.remembered.while_fresh(), keep);
    let message = Message { text: body::text(delivery.body)?.to_owned(), ..Message::default() };
    Ok(Event::one(vec![replay], Ok(message), false))
}
