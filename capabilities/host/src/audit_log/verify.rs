//! Checking a log without changing it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use capability_core::audit::Receipt;

use super::error::AuditLogError;
use super::scan::{End, scan};
use super::{head_path, log_path, read_head};
use crate::words::counted;

/// What a check of a whole log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    /// The log file.
    pub path: PathBuf,
    /// How many records hold, from the first on.
    pub records: u64,
    /// The last record that holds: compare it with a receipt that somebody kept.
    pub last: Option<Receipt>,
    /// The record that the head file names.
    pub head: u64,
    /// Whether everything is in order.
    pub finding: Finding,
}

/// Whether a log is in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Everything is.
    Clean,
    /// An interrupted write left bytes at the end that were never acknowledged. The host cuts them off when it starts.
    Torn {
        /// How many.
        bytes: u64,
    },
    /// Something was changed.
    Tampered {
        /// Which line, from 1; 0 for the head file.
        line: u64,
        /// What is wrong.
        what: &'static str,
    },
}

impl VerifyReport {
    /// 0 clean, 1 tampered, 2 torn.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self.finding {
            Finding::Clean => 0,
            Finding::Tampered { .. } => 1,
            Finding::Torn { .. } => 2,
        }
    }
}

impl core::fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let path = self.path.display();
        let records = counted(self.records, "record", "records");
        match &self.finding {
            Finding::Clean => write!(f, "`{path}`: {records}, all in order")?,
            Finding::Torn { bytes } => write!(
                f,
                "`{path}`: {records} in order, then {} of an interrupted write\n\
                 help: start the host; it cuts them off and records that",
                counted(*bytes, "byte", "bytes")
            )?,
            Finding::Tampered { line, what } => write!(
                f,
                "`{path}` line {line}: {what}; in order before it: {records}\n\
                 help: keep the whole directory as evidence and find out who wrote to it",
            )?,
        }
        if let Some(Receipt { seq, hash: Some(hash) }) = self.last {
            write!(f, "\nlast record in order: {seq} {hash}")?;
        }
        Ok(())
    }
}

/// How often a log that is being written is looked at again before its end is called torn.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Checks the whole log in `dir`, reading it as a stream; a host may be writing to it meanwhile.
///
/// # Errors
/// [`AuditLogError`] when there is no log or it cannot be read. What is wrong *in* a log is a finding, not an error.
pub fn verify(dir: &Path) -> Result<VerifyReport, AuditLogError> {
    let mut report = look(dir)?;
    for _ in 1..LOOKS {
        if report.finding == Finding::Clean {
            break;
        }
        // A write that is under way looks like a torn one: what stays the same is what counts.
        std::thread::sleep(BETWEEN_LOOKS);
        let again = look(dir)?;
        if again == report {
            break;
        }
        report = again;
    }
    Ok(report)
}

fn look(dir: &Path) -> Result<VerifyReport, AuditLogError> {
    let path = log_path(dir);
    // The head first and the length second: the log only grows, so it reaches at least as far as the head says.
    let head = read_head(dir);
    let file = File::open(&path).map_err(AuditLogError::io(&path))?;
    let len = file.metadata().map_err(AuditLogError::io(&path))?.len();
    let head = match head {
        Ok(head) => head,
        Err(AuditLogError::Head { .. }) => {
            let what = if head_path(dir).exists() { "the head file is damaged" } else { "the head file is missing" };
            let finding = Finding::Tampered { line: 0, what };
            return Ok(VerifyReport { path, records: 0, last: None, head: 0, finding });
        }
        Err(other) => return Err(other),
    };
    let found = scan(BufReader::with_capacity(1 << 16, file.take(len)), head).map_err(AuditLogError::io(&path))?;
    let last = (found.records > 0).then_some(Receipt { seq: found.records, hash: Some(found.last) });
    let finding = match found.end {
        End::Clean => Finding::Clean,
        End::Torn { bytes } => Finding::Torn { bytes },
        End::Tampered { line, what } => Finding::Tampered { line, what },
    };
    Ok(VerifyReport { path, records: found.records, last, head: head.seq, finding })
}
