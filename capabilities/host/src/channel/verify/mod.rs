//! Whether a message is what it says it is: one file a kind, all of them pure but for the keys of mail that are looked up.
//!
//! Signature or token first, over the raw bytes; then its time; then what it is; then who wrote it, and where. A rule further
//! down never speaks about what an earlier one refused.

mod body;
pub mod email;
pub mod github;
pub mod hmac;
pub mod laws;
pub mod list;
pub mod matrix;
pub mod mattermost;
pub mod slack;
pub mod standard;
pub mod telegram;
mod time;
pub mod webhook;

pub use list::Listed;
pub use time::{AHEAD, Remembered, TRIED_AGAIN};

use capability_core::Timestamp;
use capability_core::audit::ChannelKind;

use super::{Event, Headers, Refused};

/// One message as it arrived.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// The head of the request.
    pub headers: Headers<'a>,
    /// What follows the channel's own address, without a slash before it.
    pub path: &'a str,
    /// Whom the mail server took a mail in for.
    pub recipient: Option<&'a str>,
    /// Whether it came over the owner's own socket: whoever writes there is the owner of this host.
    pub by_owner: bool,
    /// The body's exact bytes.
    pub body: &'a [u8],
}

/// What a channel takes for proof, by its kind.
#[derive(Debug, Clone)]
pub enum Verifier {
    /// A token, or nothing at all.
    Webhook(webhook::Settings),
    /// A signature in a form that the operator describes.
    Hmac(hmac::Settings),
    /// A signature as the Standard Webhooks specification says.
    Standard(standard::Settings),
    /// GitHub's signature.
    Github(github::Settings),
    /// Slack's signature.
    Slack(slack::Settings),
    /// Mattermost's token.
    Mattermost(mattermost::Settings),
    /// Telegram's header.
    Telegram(telegram::Settings),
    /// A homeserver's token.
    Matrix(matrix::Settings),
    /// What the operator's own mail server found, or a signature.
    Email(Box<email::Settings>),
}

impl Verifier {
    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> ChannelKind {
        match self {
            Self::Webhook(_) => ChannelKind::Webhook,
            Self::Hmac(_) => ChannelKind::Hmac,
            Self::Standard(_) => ChannelKind::Standard,
            Self::Github(_) => ChannelKind::Github,
            Self::Slack(_) => ChannelKind::Slack,
            Self::Mattermost(_) => ChannelKind::Mattermost,
            Self::Telegram(_) => ChannelKind::Telegram,
            Self::Matrix(_) => ChannelKind::Matrix,
            Self::Email(_) => ChannelKind::Email,
        }
    }
}

/// Proves as much as the head alone proves: of kinds whose token stands in it, everything. Nobody's body is read whom that turns away.
///
/// # Errors
/// [`Refused`].
pub fn prove_head(verifier: &Verifier, headers: Headers<'_>) -> Result<(), Refused> {
    match verifier {
        Verifier::Webhook(settings) => webhook::prove(settings, headers),
        Verifier::Telegram(settings) => telegram::prove(settings, headers),
        Verifier::Matrix(settings) => matrix::prove(settings, headers),
        Verifier::Email(settings) => email::prove(settings, headers),
        // What is signed, or holds its token, is the body.
        Verifier::Hmac(_)
        | Verifier::Standard(_)
        | Verifier::Github(_)
        | Verifier::Slack(_)
        | Verifier::Mattermost(_) => Ok(()),
    }
}

/// What is proven by asking others, of what [`verify`] has let pass.
///
/// # Errors
/// [`Refused`], with [`Unavailable`](capability_core::audit::ChannelRule::Unavailable) where nobody answered.
pub async fn prove_further(verifier: &Verifier, body: &[u8], event: &Event) -> Result<(), Refused> {
    match verifier {
        Verifier::Email(settings) => email::signed(settings, body, event).await,
        Verifier::Webhook(_)
        | Verifier::Hmac(_)
        | Verifier::Standard(_)
        | Verifier::Github(_)
        | Verifier::Slack(_)
        | Verifier::Mattermost(_)
        | Verifier::Telegram(_)
        | Verifier::Matrix(_) => Ok(()),
    }
}

/// Proves a message, and says what it brings and what it is known again by. It remembers nothing: whether it was seen before is
/// for the caller to say.
///
/// # Errors
/// [`Refused`] with the one rule that turned it away.
pub fn verify(verifier: &Verifier, delivery: Delivery<'_>, now: Timestamp) -> Result<Event, Refused> {
    // Homeservers append to the address they were given; nobody else does.
    if !delivery.path.is_empty() && !matches!(verifier, Verifier::Matrix(_)) {
        return Err(Refused::malformed("the address goes on behind the channel's name"));
    }
    match verifier {
        Verifier::Webhook(settings) => webhook::verify(settings, delivery),
        Verifier::Hmac(settings) => hmac::verify(settings, delivery, now),
        Verifier::Standard(settings) => standard::verify(settings, delivery, now),
        Verifier::Github(settings) => github::verify(settings, delivery),
        Verifier::Slack(settings) => slack::verify(settings, delivery, now),
        Verifier::Mattermost(settings) => mattermost::verify(settings, delivery),
        Verifier::Telegram(settings) => telegram::verify(settings, delivery),
        Verifier::Matrix(settings) => matrix::verify(settings, delivery),
        Verifier::Email(settings) => email::verify(settings, delivery, now),
    }
}

#[cfg(test)]
mod tests;
