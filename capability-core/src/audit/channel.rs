//! What the log says of a channel: closed words, and a name that the operator's configuration gave.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What kind of channel a message came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// A webhook whose sender has a token, or nothing where the operator wrote that out.
    Webhook,
    /// A webhook that is signed with a shared key, in a form that the operator describes.
    Hmac,
    /// A webhook signed as the Standard Webhooks specification says.
    Standard,
    /// A repository's events at GitHub.
    Github,
    /// Events and commands of a Slack workspace.
    Slack,
    /// Outgoing webhooks and commands of a Mattermost server.
    Mattermost,
    /// Updates of a Telegram bot.
    Telegram,
    /// Transactions of a Matrix homeserver.
    Matrix,
    /// Mail, as a mail server hands it on.
    Email,
}

impl ChannelKind {
    /// The word used in the configuration and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Hmac => "hmac",
            Self::Standard => "standard",
            Self::Github => "github",
            Self::Slack => "slack",
            Self::Mattermost => "mattermost",
            Self::Telegram => "telegram",
            Self::Matrix => "matrix",
            Self::Email => "email",
        }
    }
}

impl core::fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which rule of a channel turned a message away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelRule {
    /// No channel is configured under the name that was asked for.
    UnknownChannel,
    /// The signature or token was missing, ambiguous or wrong.
    Unauthenticated,
    /// The sender, room or recipient is not on the list.
    NotListed,
    /// Older than the channel's window, or from the future.
    Stale,
    /// Seen before.
    Replayed,
    /// Not of the form that the channel's kind has.
    Malformed,
    /// Above the cap on a message's size.
    TooLarge,
    /// More than the channel may take in so short a time.
    RateLimited,
    /// The sender that a mail names is not proven to be its sender.
    ForgedSender,
    /// Well formed, and nothing that a channel of this kind takes in: encrypted, edited, automatic.
    Unsupported,
    /// The answer to a question was no good: no such code, or not from whoever it was shown to.
    WrongCode,
    /// There is no room for more, or a store did not answer: nothing is remembered of it, and it may come again.
    Unavailable,
}

impl ChannelRule {
    /// The word used in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownChannel => "unknown_channel",
            Self::Unauthenticated => "unauthenticated",
            Self::NotListed => "not_listed",
            Self::Stale => "stale",
            Self::Replayed => "replayed",
            Self::Malformed => "malformed",
            Self::TooLarge => "too_large",
            Self::RateLimited => "rate_limited",
            Self::ForgedSender => "forged_sender",
            Self::Unsupported => "unsupported",
            Self::WrongCode => "wrong_code",
            Self::Unavailable => "unavailable",
        }
    }
}

impl core::fmt::Display for ChannelRule {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a configured channel: 1 to 32 characters, a lower-case letter and then `a-z 0-9 _ -`.
///
/// A sender can name one and cannot make one: the log holds a name only where the configuration has it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChannelName(Arc<str>);

/// Why a text is no channel's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelNameError(());

impl core::fmt::Display for ChannelNameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a channel's name is a lower-case letter and at most 31 more characters of `a-z 0-9 _ -`")
    }
}

impl core::error::Error for ChannelNameError {}

impl ChannelName {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl core::str::FromStr for ChannelName {
    type Err = ChannelNameError;

    fn from_str(text: &str) -> Result<Self, ChannelNameError> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        let begins = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
        if begins && text.len() <= 32 && text.bytes().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(ChannelNameError(()))
        }
    }
}

impl TryFrom<String> for ChannelName {
    type Error = ChannelNameError;

    fn try_from(text: String) -> Result<Self, ChannelNameError> {
        text.parse()
    }
}

impl From<ChannelName> for String {
    fn from(name: ChannelName) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl core::fmt::Display for ChannelName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::fmt::Debug for ChannelName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A configured channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChannelNamed {
    /// Its name.
    pub channel: ChannelName,
    /// Its kind.
    pub channel_kind: ChannelKind,
}

#[cfg(test)]
mod tests {
    use super::{ChannelKind, ChannelName, ChannelRule};

    #[test]
    fn names_are_plain() {
        for good in ["a", "team-slack", "mail_2", &"x".repeat(32)] {
            assert_eq!(good.parse::<ChannelName>().unwrap().as_str(), good);
        }
        for bad in ["", "2a", "-a", "A", "a b", "a/b", "é", "a\n", "a.b", &"x".repeat(33)] {
            assert!(bad.parse::<ChannelName>().is_err(), "{bad:?}");
            assert!(serde_json::from_value::<ChannelName>(bad.into()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_word_is_the_same_everywhere() {
        for rule in [ChannelRule::UnknownChannel, ChannelRule::ForgedSender, ChannelRule::RateLimited] {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.as_str());
        }
        for kind in [ChannelKind::Hmac, ChannelKind::Github, ChannelKind::Email] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
