//! Mail, as the operator's own mail server hands it on.
//!
//! Whoever writes a mail writes what stands in its `From`. It counts only where the domain in it signed this very mail (DKIM): the
//! operator's mail server says so, above everything the sender wrote, or the signature is checked here. What is read of the mail is
//! what that signature covers.

mod head;
mod here;
mod mailbox;
mod results;
mod signature;

use core::time::Duration;
use std::collections::BTreeSet;

use capability_core::Timestamp;
use capability_core::audit::ChannelRule;

use super::super::{Event, Headers, Message, Refused, Replay, Secret};
use super::{AHEAD, Delivery, Remembered};
use head::Head;
pub use here::Keys;
pub use mailbox::{Address, is_domain};

/// How a mail is proven.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The token with which a mail server may post mail over HTTP; none where mail comes over the owner's socket alone.
    pub secret: Option<Secret>,
    /// Who says that the sender's domain signed it.
    pub proof: Proof<Keys>,
    /// Who may write.
    pub senders: Senders,
    /// The addresses that they may write to, as the mail server took them in.
    pub recipients: BTreeSet<Address>,
    /// How old a mail may be by its own date, and how long it is known again.
    pub remembered: Remembered,
}

/// Who says that the sender's domain signed a mail. Where both do, both have to. `K` is where keys are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof<K> {
    /// The operator's mail server.
    Server(Finder),
    /// Its signature, by the key that its domain publishes.
    Here(K),
    /// One and the other.
    Both(Finder, K),
}

impl<K> Proof<K> {
    /// The same with keys from elsewhere.
    ///
    /// # Errors
    /// What `make` gives.
    pub fn try_map<L, E>(self, make: impl FnOnce(K) -> Result<L, E>) -> Result<Proof<L>, E> {
        Ok(match self {
            Self::Server(finder) => Proof::Server(finder),
            Self::Here(keys) => Proof::Here(make(keys)?),
            Self::Both(finder, keys) => Proof::Both(finder, make(keys)?),
        })
    }

    const fn finder(&self) -> Option<&Finder> {
        match self {
            Self::Server(finder) | Self::Both(finder, _) => Some(finder),
            Self::Here(_) => None,
        }
    }

    const fn keys(&self) -> Option<&K> {
        match self {
            Self::Here(keys) | Self::Both(_, keys) => Some(keys),
            Self::Server(_) => None,
        }
    }
}

/// A mail server that writes down what it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finder {
    /// The name by which it signs that, in lower case.
    pub authserv_id: String,
    /// How many `Received` fields of the operator's own servers may stand above it.
    pub hops: u8,
}

/// Those who may write: single addresses, and whole domains.
#[derive(Debug, Clone, Default)]
pub struct Senders {
    /// `name@domain`
    pub addresses: BTreeSet<Address>,
    /// `domain`, exactly.
    pub domains: BTreeSet<String>,
}

impl Senders {
    fn has(&self, address: &Address) -> bool {
        self.addresses.contains(address) || self.domains.contains(address.domain())
    }
}

/// Compares the token of whoever hands mail on over HTTP.
///
/// # Errors
/// [`Refused`].
pub fn prove(settings: &Settings, headers: Headers<'_>) -> Result<(), Refused> {
    let secret = settings.secret.as_ref();
    let secret = secret.ok_or(Refused::unauthenticated("mail comes over the owner's socket alone"))?;
    let is = secret.is(headers.bearer()?.as_bytes());
    if is { Ok(()) } else { Err(Refused::unauthenticated("the token is another one")) }
}

/// Looks who hands it on; then whether its writer is proven, and whether writer and reader are on their lists.
///
/// # Errors
/// [`Refused`].
pub fn verify(settings: &Settings, delivery: Delivery<'_>, now: Timestamp) -> Result<Event, Refused> {
    if !delivery.by_owner {
        prove(settings, delivery.headers)?;
        delivery.headers.content_type()?;
    }
    // A mail server is told that all is well with what is refused for good: it would send a report to whoever is named.
    Ok(read(settings, delivery, now).unwrap_or_else(|refused| Event::one(vec![], Err(refused), true)))
}

fn read(settings: &Settings, delivery: Delivery<'_>, now: Timestamp) -> Result<Event, Refused> {
    let (head, text) = Head::read(delivery.body)?;
    let from = writer(&head)?;
    if let Some(finder) = settings.proof.finder() {
        results::prove(finder, &head, from.domain())?;
    }
    for twice in ["subject", "content-type", "content-transfer-encoding"] {
        head.one(twice)?;
    }
    let signatures = signature::of_domain(&head, from.domain(), text)?;
    if !settings.senders.has(&from) {
        return Err(Refused::not_listed("the sender is not on the list"));
    }
    let recipient = delivery.recipient.and_then(Address::parse);
    let recipient = recipient.filter(|recipient| settings.recipients.contains(recipient));
    let recipient = recipient.ok_or(Refused::not_listed("the recipient is not on the list"))?;
    by_a_person(&head)?;
    recent(&head, now, settings.remembered.keep)?;
    let replays = replays(&head, &signatures, settings.remembered)?;
    let (title, text) = content(delivery.body)?;
    let message =
        Message { sender: Some(from.to_string()), place: Some(recipient.to_string()), title, text, forwarded: false };
    Ok(Event::one(replays, Ok(message), true))
}

/// Checks the signatures of what [`verify`] has let pass, where that is done here. It comes last: nobody has a key looked up by what is
/// refused anyway.
///
/// # Errors
/// [`Refused`], with [`ChannelRule::Unavailable`] where the key could not be had: the mail may be right.
pub async fn signed(settings: &Settings, raw: &[u8], event: &Event) -> Result<(), Refused> {
    let Some(keys) = settings.proof.keys() else { return Ok(()) };
    for message in event.items.iter().filter_map(|item| item.message.as_ref().ok()) {
        let from = message.sender.as_deref().and_then(Address::parse);
        let from = from.ok_or(Refused::forged("nobody is named as the sender"))?;
        keys.prove(raw, from.domain()).await?;
    }
    Ok(())
}

/// The one writer. Programs that show mail disagree about several `From` fields, several addresses in one, and a name that
/// looks like an address; so each of these is refused.
fn writer(head: &Head<'_>) -> Result<Address, Refused> {
    let value = head.one("from")?.ok_or(Refused::forged("nobody is named as the sender"))?;
    let from = mailbox::named(&value)?;
    if let Some(sender) = head.one("sender")?
        && mailbox::named(&sender)? != from
    {
        return Err(Refused::forged("somebody else sent it than wrote it"));
    }
    Ok(from)
}

/// What a program sends by itself is no message of anybody: lists, answers from holidays, reports. Taking it in is how two
/// programs talk for ever.
fn by_a_person(head: &Head<'_>) -> Result<(), Refused> {
    let automatic = head.one("auto-submitted")?.is_some_and(|value| !value.trim().eq_ignore_ascii_case("no"));
    let bulk = head.one("precedence")?.is_some_and(|value| !value.trim().eq_ignore_ascii_case("normal"));
    let bounced = head.one("return-path")?.is_some_and(|value| value.trim() == "<>");
    let listed = head.names().any(|name| name.starts_with("list-") || name == "mailing-list");
    let resent = head.names().any(|name| name.starts_with("resent-"));
    if automatic || bulk || bounced || listed || resent {
        return Err(Refused::unsupported("it is automatic, of a list, or sent once more"));
    }
    Ok(())
}

/// Whether it was written within the time that it is known again: later a second one like it could not be told from it.
fn recent(head: &Head<'_>, now: Timestamp, keep: Duration) -> Result<(), Refused> {
    let date = head.one("date")?.ok_or(Refused::malformed("it has no date"))?;
    let written = jiff::fmt::rfc2822::parse(date.trim()).map_err(|_| Refused::malformed("its date is none"))?;
    let written = Timestamp::from_micros(written.timestamp().as_microsecond());
    let is_old = now.since(written) > keep;
    // Clocks of people's machines are further off than those of servers.
    if is_old || written.since(now) > AHEAD.saturating_mul(10) {
        return Err(Refused::new(ChannelRule::Stale, "its date is too long ago, or still to come"));
    }
    Ok(())
}

/// By its id, and by each signature of its sender's: whoever sends a signed mail once more can leave no signature out that proves
/// it, and add none.
fn replays(head: &Head<'_>, signatures: &[Vec<u8>], remembered: Remembered) -> Result<Vec<Replay>, Refused> {
    let keep = remembered.keep.saturating_add(AHEAD.saturating_mul(11));
    let mut replays: Vec<_> =
        signatures.iter().map(|signature| Replay::new("dkim", &[signature.as_slice()], keep, keep)).collect();
    if let Some(id) = head.one("message-id")? {
        replays.push(Replay::new("message", &[id.trim().as_bytes()], keep, keep));
    }
    Ok(replays)
}

/// The subject line and the plain text.
fn content(raw: &[u8]) -> Result<(Option<String>, String), Refused> {
    use mailparse::MailHeaderMap as _;

    let mail = mailparse::parse_mail(raw).map_err(|_| Refused::malformed("the mail cannot be read"))?;
    let title = mail.headers.get_first_value("Subject");
    let plain = mail.parts().find(|part| {
        part.ctype.mimetype.eq_ignore_ascii_case("text/plain")
            && part.get_content_disposition().disposition != mailparse::DispositionType::Attachment
    });
    let plain = plain.ok_or(Refused::unsupported("the mail has no plain text"))?;
    let text = plain.get_body().map_err(|_| Refused::malformed("the text cannot be read"))?;
    Ok((title, text))
}
