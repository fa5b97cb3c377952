//! Where in an agent a component stands.

use serde::{Deserialize, Serialize};

/// The longest slot path, in bytes.
const MAX_BYTES: usize = 128;

/// Where in an agent a component stands: words of `[a-z0-9_-]`, with `.` or `/` between them, at most 128 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SlotPath(String);

impl core::str::FromStr for SlotPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        let word = |word: &str| !word.is_empty() && word.bytes().all(plain);
        if text.len() <= MAX_BYTES && text.split(['.', '/']).all(word) {
            // One spelling: what a slot is called decides what it may.
            Ok(Self(text.replace('/', ".")))
        } else {
            Err("a slot is words of small letters, digits, `-` and `_`, with `.` between them, as in `planner.critic`")
        }
    }
}

impl TryFrom<String> for SlotPath {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SlotPath> for String {
    fn from(slot: SlotPath) -> Self {
        slot.0
    }
}

impl core::fmt::Display for SlotPath {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}
