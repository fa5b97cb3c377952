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
    /// Something in it was changed.
    Tampered {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The head file is missing beside a log that has records, or is damaged.
    Head {
        /// Which file.
        path: PathBuf,
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
            Self::Tampered { path, line, what } => write!(
                f,
                "the audit log was changed: `{}` line {line}: {what}\n\
                 help: keep the whole directory as evidence, move it away, and find out who wrote to it; the host then \
                 starts a new log",
                path.display()
            ),
            Self::Head { path } => write!(
                f,
                "the audit log was changed: `{}` is missing or damaged, and it says which record came last\n\
                 help: keep the whole directory as evidence, move it away, and find out who wrote to it; the host then \
                 starts a new log",
                path.display()
            ),
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
