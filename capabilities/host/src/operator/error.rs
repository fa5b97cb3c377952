//! Why somebody is not an operator.

use core::time::Duration;

use crate::data_dir::DataDirError;
use crate::environment::NoRandomness;

use super::password::{MAX_PASSWORD_BYTES, MIN_PASSWORD_CHARS};

/// Why somebody is not an operator, or a password is not set.
#[derive(Debug)]
#[non_exhaustive]
pub enum OperatorError {
    /// No password has been set.
    NotSetUp,
    /// A password has been set.
    AlreadySetUp,
    /// It has too few characters.
    TooShort,
    /// It has too many bytes.
    TooLong,
    /// It is another one.
    Wrong,
    /// The last failure was too short a time ago.
    TooSoon {
        /// How long to wait.
        wait: Duration,
    },
    /// There is no such session, or it has ended.
    NoSession,
    /// A file cannot be read or written, or is damaged.
    File(DataDirError),
    /// No random bytes.
    Randomness(NoRandomness),
    /// The memory for the hash is not there.
    Memory,
}

impl From<DataDirError> for OperatorError {
    fn from(error: DataDirError) -> Self {
        Self::File(error)
    }
}

impl From<NoRandomness> for OperatorError {
    fn from(error: NoRandomness) -> Self {
        Self::Randomness(error)
    }
}

impl core::fmt::Display for OperatorError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotSetUp => f.write_str(
                "no operator password has been set, so nobody can approve or change settings\n\
                 help: set one with `capability operator setup`",
            ),
            Self::AlreadySetUp => f.write_str(
                "an operator password has been set: it is changed with the old one, not set again\n\
                 help: change it with `capability operator setup`, which asks for the present one first",
            ),
            Self::TooShort => {
                write!(
                    f,
                    "the password is too short: it has at least {MIN_PASSWORD_CHARS} characters\nhelp: use a few words"
                )
            }
            Self::TooLong => {
                write!(
                    f,
                    "the password is too long: it has at most {MAX_PASSWORD_BYTES} bytes\nhelp: use a shorter one"
                )
            }
            Self::Wrong => f.write_str("that is not the operator password\nhelp: try again"),
            Self::TooSoon { wait } => write!(
                f,
                "too many wrong passwords: the next try is possible in {} s\nhelp: wait",
                wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
            ),
            Self::NoSession => f.write_str(
                "no operator session is open, or it has ended\nhelp: log in with `capability operator login`",
            ),
            Self::File(error) => error.fmt(f),
            Self::Randomness(error) => error.fmt(f),
            Self::Memory => f.write_str("there is no memory to check a password\nhelp: free some memory"),
        }
    }
}

impl core::error::Error for OperatorError {}
