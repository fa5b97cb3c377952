//! Places that secrets come from.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use capability_core::Timestamp;
use capability_core::audit::SecretSource;
use capability_core::handle::{BrokerFault, MAX_SECRET_BYTES};
use rustix::fs::OFlags;

use super::{NoRoom, Value, dotenv, noted};
use crate::data_dir::read_private;

/// What the configuration says of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSettings {
    /// Where it comes from.
    pub whence: Whence,
    /// When it ends; from then on it is none.
    pub expires: Option<Timestamp>,
}

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whence {
    /// The file of its name in `secrets` in the data directory.
    Stored,
    /// A file of its own.
    File(PathBuf),
    /// A line in a `.env` file.
    Dotenv {
        /// The file.
        file: PathBuf,
        /// The name before `=`.
        key: String,
    },
    /// A variable of the host's own environment.
    Environment(String),
    /// What the service manager put into `$CREDENTIALS_DIRECTORY`.
    Credential(String),
}

/// Why a secret cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretFault {
    /// There is none.
    Absent,
    /// Its place cannot be read, or is open to others, or is a link.
    Unreadable,
    /// It is no text of at most 4096 bytes, or its `.env` file is none.
    Malformed,
    /// Its time is over.
    Expired,
    /// It is configured, and lies in `secrets` as well.
    Twice,
    /// It is too short to be looked for in what goes out.
    Short,
    /// It could not be looked for: as much as can be is known already.
    Full,
}

impl From<NoRoom> for SecretFault {
    fn from(NoRoom: NoRoom) -> Self {
        Self::Full
    }
}

/// As a handle tells it: which source it is stands in the operator's own lists.
impl From<SecretFault> for BrokerFault {
    fn from(fault: SecretFault) -> Self {
        match fault {
            SecretFault::Short => Self::CredentialShort,
            SecretFault::Full => Self::SecretsFull,
            SecretFault::Absent
            | SecretFault::Unreadable
            | SecretFault::Malformed
            | SecretFault::Expired
            | SecretFault::Twice => Self::CredentialUnreadable,
        }
    }
}

impl SecretFault {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Unreadable => "unreadable",
            Self::Malformed => "malformed",
            Self::Expired => "expired",
            Self::Twice => "twice",
            Self::Short => "short",
            Self::Full => "full",
        }
    }

    /// What would be right.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Absent => "put it where it is said to come from",
            Self::Unreadable => {
                "make its file a plain one of the host's user with mode 0600, in a directory nobody else enters"
            }
            Self::Malformed => {
                "write 8 to 4096 bytes of text; in a `.env` file one `NAME=value` a line, each name once"
            }
            Self::Expired => "put a new one there, and write its end as `expires`",
            Self::Twice => "remove it from `secrets` in the data directory, or take its table out of `config.toml`",
            Self::Short => "use one of at least 8 bytes: a shorter one could not be kept out of what goes out",
            Self::Full => {
                "start the host again, so that values which were replaced are forgotten, or configure fewer and shorter ones"
            }
        }
    }
}

impl Whence {
    /// Which kind of place it is, as the log has it.
    #[must_use]
    pub const fn source(&self) -> SecretSource {
        match self {
            Self::Stored => SecretSource::Stored,
            Self::File(_) => SecretSource::File,
            Self::Dotenv { .. } => SecretSource::Dotenv,
            Self::Environment(_) => SecretSource::Environment,
            Self::Credential(_) => SecretSource::Credential,
        }
    }

    /// The place in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Stored => "a file in `secrets`".to_owned(),
            Self::File(path) => format!("`{}`", path.display()),
            Self::Dotenv { file, key } => format!("`{key}` in `{}`", file.display()),
            Self::Environment(name) => format!("`{name}` in the host's environment"),
            Self::Credential(name) => format!("`{name}` of the service manager's credentials"),
        }
    }

    /// The file that no path may lead a capability to; none where there is none of its own.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Dotenv { file: path, .. } => Some(path),
            Self::Stored | Self::Environment(_) | Self::Credential(_) => None,
        }
    }

    pub(super) fn read(&self) -> Result<Value, SecretFault> {
        match self {
            Self::Stored => Err(SecretFault::Absent),
            Self::File(path) => noted(private(path)?),
            Self::Dotenv { file, key } => {
                let whole = Value(private(file)?);
                let text = core::str::from_utf8(&whole.0).map_err(|_| SecretFault::Malformed)?;
                let value = dotenv::value(text, key).map_err(|_| SecretFault::Malformed)?;
                noted(value.ok_or(SecretFault::Absent)?.into_bytes())
            }
            Self::Environment(name) => match std::env::var(name) {
                Ok(value) if value.is_empty() => Err(SecretFault::Absent),
                Ok(value) => noted(value.into_bytes()),
                Err(std::env::VarError::NotPresent) => Err(SecretFault::Absent),
                Err(std::env::VarError::NotUnicode(_)) => Err(SecretFault::Malformed),
            },
            Self::Credential(name) => {
                let directory = std::env::var_os("CREDENTIALS_DIRECTORY").ok_or(SecretFault::Absent)?;
                let directory = PathBuf::from(directory);
                if !directory.is_absolute() {
                    return Err(SecretFault::Unreadable);
                }
                noted(credential(&directory.join(name))?)
            }
        }
    }
}

fn private(path: &Path) -> Result<Vec<u8>, SecretFault> {
    read_private(path).map_err(|_| SecretFault::Unreadable)?.ok_or(SecretFault::Absent)
}

/// A file that the service manager made: this user's or root's own, and nobody else's to read or change. A manager that lets the
/// user in by an access list shows that as rights of the group to read.
pub(super) fn credential(path: &Path) -> Result<Vec<u8>, SecretFault> {
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SecretFault::Absent,
        _ => SecretFault::Unreadable,
    })?;
    let found = file.metadata().map_err(|_| SecretFault::Unreadable)?;
    let own = [rustix::process::geteuid().as_raw(), 0].contains(&found.uid());
    if !found.is_file() || !own || found.mode() & 0o037 != 0 {
        return Err(SecretFault::Unreadable);
    }
    // Room for all of it from the start: a buffer that grows leaves copies behind.
    let mut bytes = Vec::with_capacity(2 * MAX_SECRET_BYTES);
    file.take(MAX_SECRET_BYTES as u64 + 3).read_to_end(&mut bytes).map_err(|_| SecretFault::Unreadable)?;
    Ok(bytes)
}
