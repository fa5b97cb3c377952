//! Why a configuration file is not used.

use std::path::PathBuf;

use crate::data_dir::DataDirError;

/// Why a configuration file is not used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    File(DataDirError),
    /// It does not say what it could say.
    Wrong {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1, when one is to blame.
        line: Option<usize>,
        /// What is wrong.
        what: String,
        /// What would be right.
        help: &'static str,
    },
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Wrong { path, line, what, help } => {
                write!(f, "`{}`", path.display())?;
                if let Some(line) = line {
                    write!(f, " line {line}")?;
                }
                write!(f, ": {what}\nhelp: {help}")
            }
        }
    }
}

impl core::error::Error for ConfigError {}
