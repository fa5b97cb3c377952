//! The audit log: JSON Lines, append-only, chained by hash, committed in groups.
//!
//! A line is `{"seq":N,"prev":"<hash of the line before>", ..the record's fields}`; its hash is SHA-256 over one zero byte
//! and its exact bytes without the line break. A receipt is given when the line is durable, never before. Beside the log
//! stands a head file that names the last committed record, which is what protects the last line and the log's length.
//! Whoever can write both files can rewrite history; what binds it then is the receipts that callers hold.

mod committer;
mod error;
mod head;
mod line;
mod medium;
mod scan;
mod stats;
mod tail;
mod verify;

pub use error::AuditLogError;
pub use stats::{CapabilityStats, Durations, Stats, stats};
pub use tail::tail;
pub use verify::{Finding, VerifyReport, verify};

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use capability_core::audit::{Event, Record, RecoveryKind, Sink, SinkFault, Submission};
use tokio::sync::oneshot;

use crate::data_dir::{DataDirError, check_dir, create_dir, open_append, read_private, sync_dir, write_private};
use crate::environment;
use committer::{Committer, Queued};
use head::Head;
use medium::{Files, Medium};
use scan::{End, scan};

/// The most records that wait for the disk; one more is refused, since a submission never blocks.
const QUEUE: usize = 16_384;

fn log_path(dir: &Path) -> PathBuf {
    dir.join("audit.jsonl")
}

fn head_path(dir: &Path) -> PathBuf {
    dir.join("head")
}

/// What was found when a log was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// How many records it had.
    pub records: u64,
    /// How many bytes of an interrupted write were cut off; none of it was ever acknowledged.
    pub torn_bytes: u64,
    /// How many intents have no outcome: their effect is unknown.
    pub unfinished_intents: u64,
}

/// The log, open for writing. Dropping it writes what was submitted and closes it.
#[derive(Debug)]
pub struct AuditLog {
    queue: Option<SyncSender<Queued>>,
    poisoned: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl AuditLog {
    /// Opens the log in `dir`, and makes both when they are not there. Cuts off what an interrupted write left, reports it
    /// and intents without an outcome as records of their own, and refuses everything else that is not in order.
    ///
    /// Only the owner of the data directory opens a log.
    ///
    /// # Errors
    /// [`AuditLogError`] names file and line.
    pub fn open(dir: &Path) -> Result<(Self, Opened), AuditLogError> {
        if std::fs::symlink_metadata(dir).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            create_dir(dir).map_err(AuditLogError::io(dir))?;
        }
        check_dir(dir).map_err(AuditLogError::File)?;
        let (path, head) = (log_path(dir), head_path(dir));
        let log = open_append(&path).map_err(AuditLogError::File)?;
        sync_dir(dir).map_err(AuditLogError::io(dir))?;
        let empty = log.metadata().map_err(AuditLogError::io(&path))?.len() == 0;
        if empty && read_private(&head).map_err(AuditLogError::File)?.is_none() {
            write_private(&head, Head::EMPTY.to_text().as_bytes()).map_err(AuditLogError::File)?;
        }
        let noted = read_head(dir)?;
        let reader = File::open(&path).map_err(AuditLogError::io(&path))?;
        let found = scan(BufReader::with_capacity(1 << 16, reader), noted).map_err(AuditLogError::io(&path))?;
        let torn_bytes = match found.end {
            End::Clean => 0,
            End::Torn { bytes } => bytes,
            End::Tampered { line, what } => return Err(AuditLogError::Tampered { path, line, what }),
        };
        let medium = Files::new(log, &head).map_err(AuditLogError::io(&head))?;
        let opened = Opened { records: found.records, torn_bytes, unfinished_intents: found.unfinished };
        let last = Head { seq: found.records, hash: found.last };
        Self::recover(medium, last, found.len, &opened).map(|log| (log, opened)).map_err(AuditLogError::io(&path))
    }

    /// Puts right what was found, on record, before anything else is written.
    fn recover(mut medium: impl Medium, last: Head, len: u64, opened: &Opened) -> io::Result<Self> {
        if opened.torn_bytes > 0 {
            medium.cut(len)?;
        }
        // What a killed process wrote may still be on its way to the disk.
        medium.sync()?;
        let mut committer = Committer::new(medium, last, len);
        let events = [
            (RecoveryKind::TornTail, u64::from(opened.torn_bytes > 0)),
            (RecoveryKind::UnfinishedIntents, opened.unfinished_intents),
        ];
        let records: Vec<_> = events
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .filter_map(|(kind, count)| {
                line::fields(&Record { at: environment::now(), event: Event::Recovery { kind, count } })
            })
            .collect();
        if !records.is_empty() {
            committer.commit(records.iter().map(Vec::as_slice))?;
        }
        committer.point()?;
        committer.sync_head()?;
        Self::start(committer)
    }

    fn start(committer: Committer<impl Medium>) -> io::Result<Self> {
        let (sender, queue) = sync_channel(QUEUE);
        let poisoned = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&poisoned);
        let thread =
            thread::Builder::new().name("capability-audit".to_owned()).spawn(move || committer.serve(&queue, &told))?;
        Ok(Self { queue: Some(sender), poisoned, thread: Some(thread) })
    }

    /// Whether a write failed: everything is refused then, until the host starts anew.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Acquire)
    }
}

/// The head file beside a log that exists.
fn read_head(dir: &Path) -> Result<Head, AuditLogError> {
    let path = head_path(dir);
    let bytes = read_private(&path).map_err(|error| match error {
        DataDirError::NotAFile { path } => AuditLogError::Head { path },
        other => AuditLogError::File(other),
    })?;
    bytes.and_then(|bytes| Head::parse(&bytes)).ok_or(AuditLogError::Head { path })
}

impl Sink for AuditLog {
    fn submit(&self, record: Record) -> Submission {
        if self.is_poisoned() {
            return Submission::Done(Err(SinkFault));
        }
        // Formatting happens here, on the submitter's side; number and chain are added in the order of the queue.
        let (Some(queue), Some(fields)) = (&self.queue, line::fields(&record)) else {
            return Submission::Done(Err(SinkFault));
        };
        let (answer, receipt) = oneshot::channel();
        match queue.try_send(Queued { fields, answer }) {
            Ok(()) => Submission::Later(receipt),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Submission::Done(Err(SinkFault)),
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
