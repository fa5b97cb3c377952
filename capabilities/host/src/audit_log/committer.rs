//! The one thread that writes the log.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use capability_core::audit::{LineHash, Receipt, SinkFault};
use tokio::sync::oneshot;

use super::head::Head;
use super::line;
use super::medium::Medium;

/// A batch is closed at this size; what comes meanwhile is the next one.
pub(super) const BATCH_BYTES: usize = 64 * 1024;

/// How old the head file may be on disk while records come in. Only a power cut makes the difference.
const HEAD_SYNCED_EVERY: Duration = Duration::from_secs(1);

/// One record on its way.
pub(super) struct Queued {
    pub(super) fields: Vec<u8>,
    pub(super) answer: oneshot::Sender<Result<Receipt, SinkFault>>,
}

/// Writes batches; knows the end of the chain.
pub(super) struct Committer<M> {
    medium: M,
    next: u64,
    prev: LineHash,
    len: u64,
    head_synced: Instant,
}

impl<M: Medium> Committer<M> {
    pub(super) fn new(medium: M, last: Head, len: u64) -> Self {
        Self { medium, next: last.seq + 1, prev: last.hash, len, head_synced: Instant::now() }
    }

    /// One write, one sync, and the receipts. The chain moves on only when both succeeded.
    pub(super) fn commit<'a>(&mut self, records: impl Iterator<Item = &'a [u8]>) -> io::Result<Vec<Receipt>> {
        let (mut next, mut prev) = (self.next, self.prev);
        let (mut bytes, mut receipts) = (Vec::with_capacity(1024), Vec::new());
        for fields in records {
            let whole = line::compose(next, prev, fields);
            prev = line::hash(&whole);
            receipts.push(Receipt { seq: next, hash: Some(prev) });
            next += 1;
            bytes.extend_from_slice(&whole);
            bytes.push(b'\n');
        }
        if let Err(error) = self.medium.append(&bytes) {
            // Best effort, so that a reader finds a clean end; the next start cuts it off otherwise. After a failed sync
            // nothing is touched any more: what the disk holds is unknown then.
            let _ = self.medium.cut(self.len);
            return Err(error);
        }
        self.medium.sync()?;
        self.len += bytes.len() as u64;
        (self.next, self.prev) = (next, prev);
        Ok(receipts)
    }

    /// Notes the end of the chain in the head file.
    pub(super) fn point(&mut self) -> io::Result<()> {
        self.medium.point(Head { seq: self.next - 1, hash: self.prev })
    }

    pub(super) fn sync_head(&mut self) -> io::Result<()> {
        self.head_synced = Instant::now();
        self.medium.sync_head()
    }

    /// Serves the queue until nobody can submit any more. The first fault is the last write: from then on everything is
    /// refused. A failed sync is never tried again, since the kernel may have dropped what it could not write.
    pub(super) fn serve(mut self, queue: &Receiver<Queued>, poisoned: &Arc<AtomicBool>) {
        while let Ok(first) = queue.recv() {
            let mut size = first.fields.len();
            let mut batch = vec![first];
            // No linger: what queued up during the last sync is the batch.
            while size < BATCH_BYTES
                && let Ok(next) = queue.try_recv()
            {
                size += next.fields.len();
                batch.push(next);
            }
            if poisoned.load(Ordering::Acquire) {
                refuse(batch);
                continue;
            }
            match self.commit(batch.iter().map(|queued| queued.fields.as_slice())) {
                Err(error) => {
                    poison(poisoned, &error);
                    refuse(batch);
                }
                Ok(receipts) => {
                    // Before the answers: whoever holds a receipt finds it named by the head.
                    let pointed = self.point();
                    for (queued, receipt) in batch.into_iter().zip(receipts) {
                        let _ = queued.answer.send(Ok(receipt));
                    }
                    let synced =
                        if self.head_synced.elapsed() >= HEAD_SYNCED_EVERY { self.sync_head() } else { Ok(()) };
                    if let Err(error) = pointed.and(synced) {
                        poison(poisoned, &error);
                    }
                }
            }
        }
        if !poisoned.load(Ordering::Acquire) {
            let _ = self.sync_head();
        }
    }
}

fn poison(poisoned: &AtomicBool, error: &io::Error) {
    poisoned.store(true, Ordering::Release);
    tracing::error!(kind = ?error.kind(), "the audit log cannot be written: every call is refused until the host starts anew");
}

fn refuse(batch: Vec<Queued>) {
    for queued in batch {
        let _ = queued.answer.send(Err(SinkFault));
    }
}
