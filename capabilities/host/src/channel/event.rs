//! What came, once it is proven.

use core::time::Duration;

use capability_core::audit::ChannelRule;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Why something was not taken in: the rule for the audit, and a constant word for the host's own log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// By which rule.
    pub rule: ChannelRule,
    /// What of it, in words of ours. Never a word of the sender.
    pub detail: &'static str,
}

impl Refused {
    pub(super) const fn new(rule: ChannelRule, detail: &'static str) -> Self {
        Self { rule, detail }
    }

    pub(super) const fn unauthenticated(detail: &'static str) -> Self {
        Self::new(ChannelRule::Unauthenticated, detail)
    }

    pub(super) const fn malformed(detail: &'static str) -> Self {
        Self::new(ChannelRule::Malformed, detail)
    }

    pub(super) const fn not_listed(detail: &'static str) -> Self {
        Self::new(ChannelRule::NotListed, detail)
    }

    pub(super) const fn unsupported(detail: &'static str) -> Self {
        Self::new(ChannelRule::Unsupported, detail)
    }

    pub(super) const fn forged(detail: &'static str) -> Self {
        Self::new(ChannelRule::ForgedSender, detail)
    }
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

/// Something by which a message is known again, and how long it has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// A hash of it: no word of the sender is kept.
    pub id: [u8; 32],
    /// How long a second one like it would still be let in, were it not known. Until then it is never forgotten.
    pub window: Duration,
    /// How long to know it where there is room, so that a sender's late repetition is not taken for something new.
    pub keep: Duration,
}

impl Replay {
    /// By what identifies it, in parts that cannot run into one another; `what` keeps kinds of ids apart.
    #[must_use]
    pub fn new(what: &'static str, parts: &[&[u8]], window: Duration, keep: Duration) -> Self {
        let mut hash = Sha256::new_with_prefix(what);
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self { id: hash.finalize().into(), window, keep: keep.max(window) }
    }
}

/// What somebody wrote: data, whoever it was.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who, as the channel proved it; none where a channel proves no person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// In which room, chat, repository or mailbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its subject line, or the name of its event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text, or the document, as it came.
    pub text: String,
    /// Whether it hands on what somebody else wrote.
    pub forwarded: bool,
}

impl core::fmt::Debug for Message {
    /// Without a word of it.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Message({} bytes)", self.text.len())
    }
}

/// One message of an event, or why it is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is known again by, beside what its event is.
    pub replays: Vec<Replay>,
    /// What it says.
    pub message: Result<Message, Refused>,
}

/// What the sender is told when all is well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acknowledgement {
    /// That it is.
    Plain,
    /// An empty document, as homeservers want it.
    EmptyObject,
    /// A text that it asked to be told again, to prove whose address this is.
    Challenge(String),
}

/// Something that came from whom it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What the whole of it is known again by.
    pub replays: Vec<Replay>,
    /// What it brings.
    pub items: Vec<Item>,
    /// What the sender is told.
    pub acknowledgement: Acknowledgement,
    /// Whether whoever sent it only hands on what others wrote: it is told that all is well when an item is refused, since it
    /// would send the same again and again, and whoever wrote it would learn something.
    pub relayed: bool,
}

impl Event {
    /// Of one message.
    pub(super) fn one(replays: Vec<Replay>, message: Result<Message, Refused>, relayed: bool) -> Self {
        let items = vec![Item { replays: Vec::new(), message }];
        Self { replays, items, acknowledgement: Acknowledgement::Plain, relayed }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::Replay;

    #[test]
    fn parts_do_not_run_into_one_another() {
        let of = |what, parts: &[&[u8]]| Replay::new(what, parts, Duration::ZERO, Duration::ZERO).id;
        assert_ne!(of("a", &[b"ab", b"c"]), of("a", &[b"a", b"bc"]));
        assert_ne!(of("a", &[b"abc"]), of("b", &[b"abc"]));
        assert_eq!(of("a", &[b"abc"]), of("a", &[b"abc"]));
    }
}
