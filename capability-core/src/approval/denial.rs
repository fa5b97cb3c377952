//! A person's no: why, and how often to the same thing.

use core::num::NonZeroU32;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::session::Subject;
use crate::time::Timestamp;

/// Why a person said no, as a word: told to the proposer and recorded. Words of the person's own are a note, which is told
/// and never recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialReason {
    /// It may be right later.
    NotNow,
    /// Right, and on the wrong thing.
    WrongTarget,
    /// It does more than it has to.
    TooBroad,
    /// There is no need for it.
    NotNeeded,
    /// It could do harm.
    Unsafe,
}

impl DenialReason {
    /// All of them, in the order they are offered.
    pub const ALL: [Self; 5] = [Self::NotNow, Self::WrongTarget, Self::TooBroad, Self::NotNeeded, Self::Unsafe];

    /// The word used on the command line and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotNow => "not_now",
            Self::WrongTarget => "wrong_target",
            Self::TooBroad => "too_broad",
            Self::NotNeeded => "not_needed",
            Self::Unsafe => "unsafe",
        }
    }

    /// What the proposer is told.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NotNow => "not now",
            Self::WrongTarget => "this is the wrong target",
            Self::TooBroad => "this does more than it has to",
            Self::NotNeeded => "this is not needed",
            Self::Unsafe => "this could do harm",
        }
    }
}

impl core::fmt::Display for DenialReason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// So many denials of the same thing, by the same subject, and nobody is asked again.
pub const DENIALS_BEFORE_A_LOOP: u32 = 3;

/// How long after the last denial the count lapses.
pub const DENIALS_LAPSE: Duration = Duration::from_secs(60 * 60);

/// The longest note that goes along with an answer, in bytes.
pub const MAX_NOTE_BYTES: usize = 1024;

/// A subject that proposes over and over what people deny. Which call it is about is kept as a keyed hash alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenialLoop {
    /// Who proposes it.
    pub subject: Subject,
    /// The capability's name.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// How often people said no.
    pub denials: u32,
    /// The last time.
    pub last_at: Timestamp,
    /// When the count lapses by itself.
    pub until: Timestamp,
}

impl DenialLoop {
    /// Whether nobody is asked again, at this time.
    #[must_use]
    pub fn holds(&self, now: Timestamp) -> bool {
        self.denials >= DENIALS_BEFORE_A_LOOP && now < self.until
    }
}
