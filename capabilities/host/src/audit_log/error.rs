//! Why a log is not opened or read.

use std::io;
use std::path::{Path, PathBuf};

use crate::data_dir::DataDirError;

/// Why a log is not opened or read. Its text names file and line and says what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum AuditLogError {
    /// Its directory or a file is not the host's alone.
    File(DataDirError),
    /// Somebody else has it open to write.
    Owned {
        /// The log's directory.
        path: PathBuf,
    },
    /// Something in it was changed.
    Tampered {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1; 0 for the file itself.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
        /// Where the key of the log is, which goes with it.
        key: PathBuf,
    },
    /// The operating system refused.
    Io {
        /// Which file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

impl AuditLogError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }
}

impl core::fmt::Display for AuditLogError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Owned { path } => write!(
                f,
                "the audit log `{}` is open to be written by somebody else: a log has one writer\n\
                 help: stop the other host, or give this one a directory of its own with `--data-dir DIR`",
                path.display()
            ),
            Self::Tampered { path, line, what, key } => {
                let line = if *line == 0 { String::new() } else { format!(" line {line}") };
                write!(
                    f,
                    "the audit log was changed: `{}`{line}: {what}\n\
                     help: keep the whole directory and `{}` as evidence, move both away, and find out who wrote to \
                     them; the host then starts a new log under a new key",
                    path.display(),
                    key.display()
                )
            }
            Self::Io { path, error } => {
                let help = match error.kind() {
                    io::ErrorKind::NotFound => "a host makes it at its first start",
                    io::ErrorKind::StorageFull => "free some space",
                    _ => "look at the file system it lies on",
                };
                write!(f, "the audit log `{}` cannot be used: {error}\nhelp: {help}", path.display())
            }
        }
    }
}

impl core::error::Error for AuditLogError {}
