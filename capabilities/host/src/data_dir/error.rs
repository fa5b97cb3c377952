//! Why a data directory or a file in it is not used.

use std::io;
use std::path::{Path, PathBuf};

use crate::environment::NoRandomness;

/// Why a data directory or a private file is not used. Its text names the path and says what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum DataDirError {
    /// It is a symbolic link.
    Link {
        /// Which path.
        path: PathBuf,
    },
    /// It is no directory.
    NotADirectory {
        /// Which path.
        path: PathBuf,
    },
    /// It is no regular file.
    NotAFile {
        /// Which path.
        path: PathBuf,
    },
    /// It belongs to another user.
    Foreign {
        /// Which path.
        path: PathBuf,
    },
    /// Group or others may reach it.
    Open {
        /// Which path.
        path: PathBuf,
        /// The mode it has.
        mode: u32,
        /// The mode it must have.
        wanted: u32,
    },
    /// Another process owns the directory.
    Owned {
        /// The lock file.
        path: PathBuf,
        /// The process, when it says so.
        pid: Option<u32>,
    },
    /// A file does not hold what it must.
    Damaged {
        /// Which path.
        path: PathBuf,
        /// What it must hold.
        rule: &'static str,
        /// What to do.
        help: &'static str,
    },
    /// No random bytes.
    Randomness(NoRandomness),
    /// The operating system refused.
    Io {
        /// What was tried.
        tried: &'static str,
        /// Which path.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

impl DataDirError {
    pub(crate) fn io(tried: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { tried, path, error }
    }
}

impl core::fmt::Display for DataDirError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Link { path } => write!(
                f,
                "`{0}` is a symbolic link: the host's data is reached directly or not at all\n\
                 help: name the directory the link leads to",
                path.display()
            ),
            Self::NotADirectory { path } => write!(
                f,
                "`{}` is not a directory: the host keeps its data in one\nhelp: move it away or name another path",
                path.display()
            ),
            Self::NotAFile { path } => write!(
                f,
                "`{}` is not a regular file: the host follows no links and reads no devices\nhelp: move it away",
                path.display()
            ),
            Self::Foreign { path } => write!(
                f,
                "`{0}` belongs to another user: the host's data belongs to the user it runs as\n\
                 help: run the host as that user, or `chown` it",
                path.display()
            ),
            Self::Open { path, mode, wanted } => write!(
                f,
                "`{0}` has mode {mode:04o}: group and others must not reach the host's data\n\
                 help: run `chmod {wanted:04o} {0}` and find out who read it",
                path.display()
            ),
            Self::Owned { path, pid } => {
                write!(f, "another host owns the data directory (`{}` is locked", path.display())?;
                if let Some(pid) = pid {
                    write!(f, " by process {pid}")?;
                }
                f.write_str(")\nhelp: use that host, stop it, or name another data directory")
            }
            Self::Damaged { path, rule, help } => {
                write!(f, "`{}` is damaged: {rule}\nhelp: {help}", path.display())
            }
            Self::Randomness(error) => error.fmt(f),
            Self::Io { tried, path, error } => {
                let help = match error.kind() {
                    io::ErrorKind::StorageFull => "free some space",
                    io::ErrorKind::ReadOnlyFilesystem => "name a data directory on a file system that can be written",
                    io::ErrorKind::PermissionDenied => "let this user reach it, or name another path",
                    _ => "look at the file system it lies on",
                };
                write!(f, "could not {tried} `{}`: {error}\nhelp: {help}", path.display())
            }
        }
    }
}

impl core::error::Error for DataDirError {}
