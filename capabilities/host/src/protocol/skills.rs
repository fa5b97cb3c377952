//! Questions about skills.

use base64ct::{Base64, Encoding as _};
use serde::{Deserialize, Serialize};

use super::Proof;

/// One question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillQuestion {
    /// Every skill, and where it stands.
    List,
    /// One with everything in it. Operators only: it is all foreign text.
    Show {
        /// Who asks.
        proof: Proof,
        /// Which.
        name: String,
    },
    /// Let a skill come into use as it is now. Operators only.
    Accept {
        /// Who says so.
        proof: Proof,
        /// Which.
        name: String,
        /// What was looked at, as `sha256:` and the digest.
        digest: String,
    },
    /// Take a skill out of use, and with it what it requires of policy. Operators only.
    Remove {
        /// Who says so.
        proof: Proof,
        /// Which.
        name: String,
    },
}

/// What a session is told by a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillGiven {
    /// What it is for.
    pub description: String,
    /// Its instructions, framed.
    pub text: String,
}

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillPart {
    /// It is text.
    Text(String),
    /// It is none: its bytes, in Base64.
    Bytes(String),
}

impl SkillPart {
    /// The file with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        match core::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Bytes(Base64::encode_string(bytes)),
        }
    }
}
