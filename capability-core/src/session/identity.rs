//! The part of a session that is stored beside what it asked for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Who a session speaks for: an agent, a mind, a household member, a schedule, a channel.
///
/// 1 to 64 characters of `a-z 0-9 . _ : @ -`, so that it can stand in rules, logs and file names as it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Subject(Arc<str>);

/// Why a text is no subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubjectError(());

impl core::fmt::Display for SubjectError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a subject is 1 to 64 characters of `a-z 0-9 . _ : @ -`")
    }
}

impl core::error::Error for SubjectError {}

impl Subject {
    /// The person at the machine itself.
    #[must_use]
    pub fn local() -> Self {
        Self("local".into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl core::str::FromStr for Subject {
    type Err = SubjectError;

    fn from_str(text: &str) -> Result<Self, SubjectError> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._:@-".contains(&b);
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(SubjectError(()))
        }
    }
}

impl TryFrom<String> for Subject {
    type Error = SubjectError;

    fn try_from(text: String) -> Result<Self, SubjectError> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.0.as_ref().to_owned()
    }
}

impl core::fmt::Display for Subject {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::fmt::Debug for Subject {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A session's random name: 128 bits, 32 hexadecimal digits as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub(crate) [u8; 16]);

impl SessionId {
    /// From 16 unpredictable bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

crate::hex::hex_text!(SessionId, 16, "a session id is 32 hexadecimal digits");

/// A conversation turn's number within its session: what the per-turn caps count by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnId(pub u64);

/// How much of the world a session may touch, from least to most strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The ordinary mode.
    Live,
    /// Nothing is changed and nothing leaves the device: only `read_only` + `local` runs.
    Plan,
    /// Imagined: everything is turned away on entry.
    Dream,
    /// Repeated: everything is turned away on entry.
    Replay,
}

impl Mode {
    /// The word used on the command line and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Plan => "plan",
            Self::Dream => "dream",
            Self::Replay => "replay",
        }
    }

    /// Whether anything is looked at at all.
    #[must_use]
    pub const fn is_refused_on_entry(self) -> bool {
        matches!(self, Self::Dream | Self::Replay)
    }
}

/// What kind of thing brought a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person at a command line.
    Terminal,
    /// A person at a page.
    Ui,
    /// A model's proposal.
    Model,
    /// A schedule that came due.
    Schedule,
    /// A message on a channel.
    Channel,
}

impl Origin {
    /// The word used in rules and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Ui => "ui",
            Self::Model => "model",
            Self::Schedule => "schedule",
            Self::Channel => "channel",
        }
    }
}

/// Everything about a session that an approval must remember: stored with what is pending, never read from a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionIdentity {
    /// The session's random name.
    pub id: SessionId,
    /// Who it speaks for.
    pub subject: Subject,
    /// How much of the world it may touch.
    pub mode: Mode,
    /// What brought it.
    pub origin: Origin,
    /// The turn the caps count by.
    pub turn: TurnId,
}

#[cfg(test)]
mod tests {
    use super::{Mode, SessionId, Subject};

    #[test]
    fn subjects_are_plain() {
        for good in ["local", "agent:web-1", "kid@home.lan", "a"] {
            assert_eq!(good.parse::<Subject>().unwrap().as_str(), good);
        }
        for bad in ["", "Local", "a b", "a/b", "é", "a\n", &"x".repeat(65)] {
            assert!(bad.parse::<Subject>().is_err(), "{bad:?}");
            assert!(serde_json::from_value::<Subject>(bad.into()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn strictness_is_an_order() {
        assert!(Mode::Live < Mode::Plan && Mode::Plan < Mode::Dream && Mode::Plan < Mode::Replay);
    }

    #[test]
    fn ids_are_hexadecimal() {
        let id = SessionId::from_bytes([0xab; 16]);
        assert_eq!(id.to_string(), "ab".repeat(16));
        assert_eq!(id.to_string().parse::<SessionId>().unwrap(), id);
        assert!("AB".repeat(16).parse::<SessionId>().is_err() && "ab".parse::<SessionId>().is_err());
    }
}
