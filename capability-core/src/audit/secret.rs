//! Where secrets come from, in the words that the log has for it.

use serde::Serialize;

/// A kind of place that a secret comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretSource {
    /// The host's own store of secrets.
    Stored,
    /// A file that an operator named.
    File,
    /// A line of a `.env` file.
    Dotenv,
    /// The host's environment.
    Environment,
    /// The service manager.
    Credential,
}

impl SecretSource {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::File => "file",
            Self::Dotenv => "dotenv",
            Self::Environment => "environment",
            Self::Credential => "credential",
        }
    }
}
