//! Checking a log without changing it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use capability_core::Timestamp;
use capability_core::audit::Receipt;

use super::disk::Directory;
use super::error::AuditLogError;
use super::key::{LogKey, VerifierKey};
use super::recovery::read_checkpoint;
use super::scan::{End, Scanner};
use super::segment::{self, CHECKPOINT};
use super::{is_written, key_path};
use crate::data_dir::read_private;
use crate::words::counted;

/// What to hold a log against, besides itself.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// The verifier key that somebody kept elsewhere; the log's own key file otherwise.
    pub key: Option<VerifierKey>,
    /// A receipt that somebody holds.
    pub receipt: Option<Receipt>,
}

/// What a check of a whole log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    /// The log's directory.
    pub path: PathBuf,
    /// How many records hold, from the first on.
    pub records: u64,
    /// The last record that holds: compare it with a receipt that somebody kept.
    pub last: Option<Receipt>,
    /// The last record that a checkpoint vouches for, and when it was written; 0 for none.
    pub anchored: (u64, Option<Timestamp>),
    /// The key that checkpoints were checked with.
    pub key: Option<VerifierKey>,
    /// Whether the receipt that was asked for is in the log.
    pub receipt: Option<bool>,
    /// Whether everything is in order.
    pub finding: Finding,
}

/// Whether a log is in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Everything is.
    Clean,
    /// Everything is, and the last records are not covered by a checkpoint: a host that was killed left them. The next
    /// start takes them in.
    Unanchored {
        /// How many.
        records: u64,
    },
    /// An interrupted write left bytes at the end that were never acknowledged. The host sets them aside when it starts.
    Torn {
        /// How many.
        bytes: u64,
    },
    /// Something was changed.
    Tampered {
        /// Which file of the directory.
        file: String,
        /// Which line of it, from 1; 0 for the file itself.
        line: u64,
        /// What is wrong.
        what: &'static str,
    },
}

impl VerifyReport {
    /// 0 clean, 1 tampered or without the receipt, 2 torn, 3 unanchored.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match (&self.finding, self.receipt) {
            (Finding::Tampered { .. }, _) | (_, Some(false)) => 1,
            (Finding::Torn { .. }, _) => 2,
            (Finding::Unanchored { .. }, _) => 3,
            (Finding::Clean, _) => 0,
        }
    }

    fn tampered(path: &Path, key: Option<VerifierKey>, file: &str, what: &'static str) -> Self {
        let finding = Finding::Tampered { file: file.to_owned(), line: 0, what };
        Self { path: path.to_owned(), records: 0, last: None, anchored: (0, None), key, receipt: None, finding }
    }
}

impl core::fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let path = self.path.display();
        let records = counted(self.records, "record", "records");
        match &self.finding {
            Finding::Clean => write!(f, "`{path}`: {records}, all in order")?,
            Finding::Unanchored { records: behind } => write!(
                f,
                "`{path}`: {records} in order, the last {behind} of them without a checkpoint\n\
                 help: start the host; it takes them in and signs a checkpoint. Until then receipts alone tell whether \
                 more are missing",
            )?,
            Finding::Torn { bytes } => write!(
                f,
                "`{path}`: {records} in order, then {} of an interrupted write\n\
                 help: start the host; it sets them aside and records that",
                counted(*bytes, "byte", "bytes")
            )?,
            Finding::Tampered { file, line, what } => {
                let line = if *line == 0 { String::new() } else { format!(" line {line}") };
                write!(
                    f,
                    "`{path}/{file}`{line}: {what}; in order before it: {records}\n\
                     help: keep the whole directory as evidence and find out who wrote to it",
                )?;
            }
        }
        let (anchored, at) = self.anchored;
        write!(f, "\nanchored to record {anchored}")?;
        if let Some(at) = at {
            write!(f, " of {at}")?;
        }
        write!(f, ", {} unanchored", counted(self.records.saturating_sub(anchored), "record", "records"))?;
        match self.receipt {
            Some(true) => f.write_str("\nthe receipt is in the log")?,
            Some(false) => f.write_str(
                "\nthe receipt is not in the log\n\
                 help: either it is another log's, or this one was rewritten: keep the whole directory as evidence",
            )?,
            None => {}
        }
        if let Some(Receipt { seq, hash: Some(hash) }) = self.last {
            write!(f, "\nlast record in order: {seq} {hash}")?;
        }
        if let Some(key) = &self.key {
            write!(f, "\nverifier key: {key}")?;
        }
        Ok(())
    }
}

/// How long a host that writes is waited for until it has signed what was found. It signs every second; this is for
/// machines that are busy.
const PATIENCE: Duration = Duration::from_secs(15);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Checks the whole log in `dir`, reading it as a stream; a host may be writing to it meanwhile.
///
/// # Errors
/// [`AuditLogError`] when there is no log or it cannot be read. What is wrong *in* a log is a finding, not an error.
pub fn verify(dir: &Path) -> Result<VerifyReport, AuditLogError> {
    verify_against(dir, &Expected::default())
}

/// Checks the whole log in `dir` against what somebody kept elsewhere.
///
/// # Errors
/// [`AuditLogError`], as [`verify`].
pub fn verify_against(dir: &Path, expected: &Expected) -> Result<VerifyReport, AuditLogError> {
    let (disk, io) = (Directory::new(dir), || AuditLogError::io(dir));
    std::fs::read_dir(dir).map_err(io())?;
    let path = key_path(dir);
    let without_key = |what| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(VerifyReport::tampered(path.parent().unwrap_or(dir), None, &name, what))
    };
    let key = match (&expected.key, read_private(&path).map_err(AuditLogError::File)?) {
        (Some(key), _) => key.clone(),
        (None, Some(bytes)) => match LogKey::parse(&bytes) {
            Some(key) => key.verifier().clone(),
            None => return without_key("the key file is damaged"),
        },
        (None, None) => return without_key("the key file is missing"),
    };
    let checkpoint = || read_checkpoint(&disk, &key).map_err(io());
    // The checkpoint first and the lengths second: the log only grows, so it reaches at least as far as its checkpoint.
    let first = match checkpoint()? {
        Ok(checkpoint) => checkpoint,
        Err(what) => return Ok(VerifyReport::tampered(dir, Some(key), CHECKPOINT, what)),
    };
    let mut scanner = Scanner::new(first);
    scanner.watched = expected.receipt.map(|receipt| (receipt, false));
    scanner.advance(&disk, &segment::list(&disk).map_err(io())?, None).map_err(io())?;
    // What a host is still writing is neither torn nor unanchored: what was seen is looked at again under the checkpoint
    // that covers it.
    let seen = scanner.records();
    let patience = Instant::now() + PATIENCE;
    while is_open(&scanner) && Instant::now() < patience && is_written(dir) {
        std::thread::sleep(BETWEEN_LOOKS);
        match checkpoint()? {
            Ok(later) if later.size > first.size && later.size >= seen => {
                scanner.end = End::Clean;
                scanner.anchor(later);
                let listed = segment::list(&disk).map_err(io())?;
                scanner.advance(&disk, &listed, Some(later.size)).map_err(io())?;
            }
            Ok(_) => {}
            Err(what) => return Ok(VerifyReport::tampered(dir, Some(key), CHECKPOINT, what)),
        }
    }
    // Nobody writes any more: what there is now is all there is.
    if is_open(&scanner) && scanner.records() == seen {
        scanner.end = End::Clean;
        if let Ok(last) = checkpoint()? {
            scanner.anchor(last);
        }
        scanner.advance(&disk, &segment::list(&disk).map_err(io())?, None).map_err(io())?;
    }
    Ok(report(dir, key, &scanner))
}

/// Whether there is something that a host which is writing explains.
fn is_open(scanner: &Scanner) -> bool {
    match scanner.end {
        End::Torn { .. } => true,
        End::Clean => scanner.records() > scanner.proved.0,
        End::Tampered { .. } => false,
    }
}

fn report(dir: &Path, key: VerifierKey, scanner: &Scanner) -> VerifyReport {
    let records = scanner.records();
    let finding = match scanner.end {
        End::Clean if records > scanner.proved.0 => Finding::Unanchored { records: records - scanner.proved.0 },
        End::Clean => Finding::Clean,
        End::Torn { bytes } => Finding::Torn { bytes },
        End::Tampered { line, what } => Finding::Tampered { file: scanner.segment.name(), line, what },
    };
    VerifyReport {
        path: dir.to_owned(),
        records,
        last: (records > 0).then_some(Receipt { seq: records, hash: Some(scanner.last) }),
        anchored: scanner.proved,
        key: Some(key),
        receipt: scanner.watched.map(|(_, seen)| seen),
        finding,
    }
}
