//! A repository's events at GitHub: `X-Hub-Signature-256` over the raw body.

use serde::Deserialize;

use super::super::{Event, Message, Refused, Replay, Secret};
use super::hmac::{Encoding, behind, tag};
use super::{Delivery, Listed, Remembered, body};

/// How GitHub's events are proven.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The webhook's secret.
    pub secret: Secret,
    /// The repositories, each as `owner/name`; anyone's that the secret is given to, unless it is said.
    pub repositories: Listed,
    /// How long an event is known again. Its signature covers no time.
    pub remembered: Remembered,
}

/// What is read of an event. Everything else is handed on as it came.
#[derive(Deserialize)]
struct Named {
    repository: Option<Repository>,
    sender: Option<Sender>,
}

#[derive(Deserialize)]
struct Repository {
    full_name: String,
}

#[derive(Deserialize)]
struct Sender {
    login: String,
}

/// Checks the signature.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>) -> Result<Event, Refused> {
    let headers = delivery.headers;
    // SHA-1, which stands in an older header, is not looked at.
    let tag = tag(behind(headers.one("x-hub-signature-256")?, "sha256=")?, Encoding::Hex)?;
    if !settings.secret.signed(&[delivery.body], &tag) {
        return Err(Refused::unauthenticated("the signature is another one"));
    }
    headers.content_type()?;
    let keep = settings.remembered.keep;
    // The delivery's id is not signed. It makes a redelivery one; another id makes no other event of the same bytes.
    let mut replays = vec![Replay::new("signature", &[&tag], keep, keep)];
    if let Some(id) = headers.optional("x-github-delivery")? {
        let (window, keep) = settings.remembered.proven_anew();
        replays.push(Replay::new("delivery", &[body::id(id)?.as_bytes()], window, keep));
    }
    let event = headers.optional("x-github-event")?.map(body::id).transpose()?;
    let text = body::text(delivery.body)?;
    let named = serde_json::from_slice::<Named>(delivery.body).ok();
    let (repository, sender) = named.map_or((None, None), |named| {
        (named.repository.map(|repository| repository.full_name), named.sender.map(|sender| sender.login))
    });
    let message = if event == Some("ping") {
        Err(Refused::unsupported("a ping brings nothing"))
    } else {
        settings.repositories.lets(repository.as_deref().unwrap_or_default(), "the repository is not on the list").map(
            |()| Message {
                sender,
                place: repository,
                title: event.map(str::to_owned),
                text: text.to_owned(),
                forwarded: false,
            },
        )
    };
    // A ping is answered as GitHub expects it, and so is what is not on the list: it came from GitHub.
    Ok(Event::one(replays, message, true))
}
