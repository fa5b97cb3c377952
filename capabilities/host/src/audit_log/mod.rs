//! The audit log: JSON Lines in segments, append-only, chained by hash, committed in groups, signed about every second.
//!
//! A line is `{"seq":N,"prev":"<hash of the line before>", ..the record's fields}`; its hash is SHA-256 over one zero byte
//! and its exact bytes without the line break, which makes it the leaf of a hash tree as well. A receipt is given when the
//! line is durable, never before. Beside the segments stands a checkpoint: the number of records and the root of the tree
//! over them, signed with a key that lies outside. It is what protects the last line and the log's length.
//! Whoever can write the log and read the key can rewrite history; what binds it then is the receipts that callers hold and
//! the checkpoints that somebody keeps elsewhere.

mod anchor;
mod checkpoint;
mod committer;
mod disk;
mod error;
mod key;
mod line;
mod own;
mod recovery;
mod scan;
mod segment;
mod state;
mod stats;
mod tail;
mod tree;
mod verify;

pub use error::AuditLogError;
pub use key::VerifierKey;
pub use own::own_calls;
pub use stats::{CapabilityStats, Durations, Stats, stats};
pub use tail::{Follow, tail};
pub use verify::{Expected, Finding, VerifyReport, verify, verify_against};

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use capability_core::audit::{Event, Record, Sink, SinkFault, Submission};
use rustix::fs::{FlockOperation, flock};
use tokio::sync::oneshot;

use crate::data_dir::{DataDirError, check_dir, check_file, create_dir, read_private, write_private};
use crate::environment;
use anchor::Anchorer;
use committer::{Committer, Options, Queued};
use disk::{Directory, Disk};
use key::LogKey;
use recovery::Refused;
use state::State;

/// The most records that wait for the disk; one more is refused, since a submission never blocks.
const QUEUE: usize = 16_384;

/// The key lies beside the log and not in it: whoever carries the log away does not carry the right to sign it.
fn key_path(dir: &Path) -> PathBuf {
    dir.with_extension("key")
}

/// What was found when a log was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// How many records it had.
    pub records: u64,
    /// How many bytes of an interrupted write were set aside; none of it was ever acknowledged.
    pub torn_bytes: u64,
    /// How many intents had no outcome: their effect is unknown, and each has an outcome now that says so.
    pub unfinished_intents: u64,
}

/// The log, open for writing. Dropping it writes what was submitted, signs it and closes the log.
#[derive(Debug)]
pub struct AuditLog {
    queue: Option<SyncSender<Queued>>,
    state: Arc<State>,
    threads: Vec<JoinHandle<()>>,
    key: VerifierKey,
    /// Held for the lock that the open directory carries.
    _writer: Option<File>,
}

impl AuditLog {
    /// Opens the log in `dir`, and makes it when it is not there. Its key is beside the directory: `audit.key` for a log in
    /// `audit`. Sets aside what an interrupted write left, gives every call that a killed host left open its outcome, and
    /// refuses everything else that is not in order.
    ///
    /// Only the owner of the data directory opens a log, and a log has one writer.
    ///
    /// # Errors
    /// [`AuditLogError`] names file and line.
    pub fn open(dir: &Path) -> Result<(Self, Opened), AuditLogError> {
        Self::open_with(dir, Options::default())
    }

    fn open_with(dir: &Path, options: Options) -> Result<(Self, Opened), AuditLogError> {
        let io = || AuditLogError::io(dir);
        if std::fs::symlink_metadata(dir).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            create_dir(dir).map_err(io())?;
        }
        check_dir(dir).map_err(AuditLogError::File)?;
        let writer = lock(dir)?;
        let disk = Arc::new(Directory::new(dir));
        for name in disk.names().map_err(io())?.iter().filter(|name| segment::is_ours(name)) {
            check_file(&dir.join(name)).map_err(AuditLogError::File)?;
        }
        let key = Arc::new(Self::key(dir, &disk)?);
        let state = Arc::new(State::default());
        let refused = |refused| match refused {
            Refused::Io(error) => io()(error),
            Refused::Tampered { file, line, what } => {
                AuditLogError::Tampered { path: dir.join(file), line, what, key: key_path(dir) }
            }
        };
        let (committer, opened) = recovery::open(&disk, &key, options, &state, environment::now()).map_err(refused)?;
        let mut log = Self::start(committer, disk, key, state).map_err(io())?;
        log._writer = Some(writer);
        Ok((log, opened))
    }

    /// The log's key; a new one, with the first checkpoint, for a log that has no record.
    fn key(dir: &Path, disk: &Arc<Directory>) -> Result<LogKey, AuditLogError> {
        let (io, path) = (|| AuditLogError::io(dir), key_path(dir));
        let changed = |what| AuditLogError::Tampered { path: path.clone(), line: 0, what, key: path.clone() };
        if let Some(bytes) = read_private(&path).map_err(AuditLogError::File)? {
            return LogKey::parse(&bytes).ok_or_else(|| changed("it is damaged, and it is the log's key"));
        }
        let segments = segment::list(disk.as_ref()).map_err(io())?;
        if segments.iter().any(|segment| segment.len > 0) || recovery::has_counted(disk.as_ref()).map_err(io())? {
            return Err(changed("it is missing, and it is the key of a log that has records"));
        }
        let key = Arc::new(LogKey::generate().map_err(|error| AuditLogError::File(DataDirError::Randomness(error)))?);
        recovery::begin(disk, Arc::clone(&key)).map_err(io())?;
        write_private(&path, key.to_text().as_bytes()).map_err(AuditLogError::File)?;
        Arc::try_unwrap(key).map_err(|_| changed("it is in use"))
    }

    fn start<D: Disk>(committer: Committer<D>, disk: Arc<D>, key: Arc<LogKey>, state: Arc<State>) -> io::Result<Self> {
        let (sender, queue) = sync_channel(QUEUE);
        // One waits while one is written: a third is asked for when it is due.
        let (ask, asked) = sync_channel(1);
        let verifier = key.verifier().clone();
        let (anchorer, told) = (Anchorer::new(disk, key), Arc::clone(&state));
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let threads = vec![
            named("capability-audit").spawn(move || committer.serve(&queue, &ask))?,
            named("capability-sign").spawn(move || anchorer.serve(&asked, &told))?,
        ];
        Ok(Self { queue: Some(sender), state, threads, key: verifier, _writer: None })
    }

    /// Whether a write failed: everything is refused then, until the host starts anew.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.state.is_poisoned()
    }

    /// Whether room is short: no call begins then, until there is some.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.state.is_short()
    }

    /// The public half of the key that signs checkpoints.
    #[must_use]
    pub const fn verifier_key(&self) -> &VerifierKey {
        &self.key
    }
}

/// How often a lock is tried that somebody may be looking at, and how long between two times.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Becomes the one writer.
fn lock(dir: &Path) -> Result<File, AuditLogError> {
    let file = File::open(dir).map_err(AuditLogError::io(dir))?;
    for _ in 0..TRIES {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => thread::sleep(BETWEEN_TRIES),
            Err(error) => return Err(AuditLogError::io(dir)(error.into())),
        }
    }
    Err(AuditLogError::Owned { path: dir.to_owned() })
}

/// Whether somebody has the log open to write. Looking takes the lock for a moment, which is why a writer tries more than
/// once.
fn is_written(dir: &Path) -> bool {
    let Ok(file) = File::open(dir) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
}

/// Whether a record only ends what has begun. Room is kept for these.
const fn ends(event: &Event) -> bool {
    matches!(event, Event::Outcome { guarantees: Some(_), .. } | Event::ProcessEnded { .. })
}

impl Sink for AuditLog {
    fn submit(&self, record: Record) -> Submission {
        let begins = !ends(&record.event);
        if self.is_poisoned() || (begins && self.is_short()) {
            return Submission::Done(Err(SinkFault));
        }
        // Formatting happens here, on the submitter's side; number and chain are added in the order of the queue.
        let (Some(queue), Some(fields)) = (&self.queue, line::fields(&record)) else {
            return Submission::Done(Err(SinkFault));
        };
        let (answer, receipt) = oneshot::channel();
        match queue.try_send(Queued { fields, begins, answer }) {
            Ok(()) => Submission::Later(receipt),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Submission::Done(Err(SinkFault)),
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        drop(self.queue.take());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
