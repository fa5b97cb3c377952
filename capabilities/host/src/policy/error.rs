//! Why a file of rules is not used.

use std::path::PathBuf;

use crate::data_dir::DataDirError;

/// Why a file of rules is not used. Its text names file, line and rule, and what would be right.
#[derive(Debug)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file cannot be read.
    File(DataDirError),
    /// There were rules in force, and their file is gone.
    Gone {
        /// Which file.
        path: PathBuf,
        /// Where a copy of what was last in force lies.
        copy: PathBuf,
    },
    /// It makes a policy, and the log cannot take that it comes into force.
    Untold {
        /// Which file.
        path: PathBuf,
    },
    /// It is not the text that an operator accepted.
    NotThat {
        /// Which file.
        path: PathBuf,
    },
    /// It does not say what it could say.
    Wrong {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1, when one is to blame.
        line: Option<usize>,
        /// What is wrong.
        what: String,
        /// What would be right.
        help: String,
    },
}

impl core::fmt::Display for PolicyError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Gone { path, copy } => write!(
                f,
                "`{}` is gone, and rules were in force: without the file nobody knows whether they still are\n\
                 help: put it back, `{}` is a copy of what was in force; an empty file is no rules",
                path.display(),
                copy.display()
            ),
            Self::Untold { path } => write!(
                f,
                "`{}` does not count: the audit log cannot take that its rules come into force\n\
                 help: look at the log with `capability doctor`, then save the file again",
                path.display()
            ),
            Self::NotThat { path } => write!(
                f,
                "nothing is accepted: `{}` is not the text that was looked at, or need not be accepted\n\
                 help: look at it again with `capability policy compare`",
                path.display()
            ),
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

impl core::error::Error for PolicyError {}
