//! The one thread that writes records.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError};
use std::time::{Duration, Instant};

use capability_core::Timestamp;
use capability_core::audit::{Event, LineHash, Receipt, Record, SinkFault};
use tokio::sync::oneshot;

use super::checkpoint::Checkpoint;
use super::disk::{Disk, is_full};
use super::line::{self, MAX_LINE};
use super::segment::{Segment, name};
use super::state::State;
use super::tree::Frontier;
use crate::environment;

/// A batch is closed at this size; what comes meanwhile is the next one.
pub(super) const BATCH_BYTES: usize = 64 * 1024;
/// What a line has beside its record's fields: number, chain and line break, and room to spare.
const OPENING: usize = 128;
/// The longest batch, and so the most that one interrupted write leaves: a full one, the record that closed it, and the
/// first record of a segment.
pub(super) const MAX_BATCH: usize = BATCH_BYTES + MAX_LINE + 1024;

/// How long records that nobody waits for are held back for one that somebody does. Such a record promises nothing, and what
/// comes behind it, the intent of the same call for instance, would wait for a sync that serves nobody.
const HELD_BACK: Duration = Duration::from_millis(2);

const DAY_US: i64 = 86_400_000_000;

/// How a log is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// A segment of this size is full.
    pub(super) segment_bytes: u64,
    /// How much room is reserved ahead at a time.
    pub(super) ahead: u64,
    /// With less than this, no call begins. It holds the outcomes of as many calls as a host can have in flight: the
    /// runner has at most 1024 threads, and an outcome is shorter than a kilobyte.
    pub(super) low: u64,
    /// How old a checkpoint may be while records come in.
    pub(super) checkpoint_every: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 64 * 1024 * 1024,
            ahead: 4 * 1024 * 1024,
            low: 1024 * 1024,
            checkpoint_every: Duration::from_secs(1),
        }
    }
}

/// One record on its way.
pub(super) struct Queued {
    pub(super) fields: Vec<u8>,
    /// Whether it begins something, and is refused when room is short.
    pub(super) begins: bool,
    pub(super) answer: oneshot::Sender<Result<Receipt, SinkFault>>,
}

/// The end of a log.
pub(super) struct Tip {
    pub(super) next: u64,
    pub(super) last: LineHash,
    pub(super) tree: Frontier,
    pub(super) segment: Segment,
    /// When the segment's first record was written.
    pub(super) began: Timestamp,
    /// How many records the newest checkpoint that was asked for covers.
    pub(super) anchored: u64,
}

/// Writes batches; knows the end of the chain.
pub(super) struct Committer<D: Disk> {
    disk: Arc<D>,
    file: D::File,
    tip: Tip,
    /// The segment before, until the present one has a record that names it.
    before: Option<Segment>,
    /// Up to where the present segment's room is reserved.
    reserved: u64,
    /// Whether there was no room when it was last asked for.
    short: bool,
    options: Options,
    state: Arc<State>,
    bytes: Vec<u8>,
}

impl<D: Disk> Committer<D> {
    pub(super) fn new(disk: Arc<D>, file: D::File, tip: Tip, options: Options, state: Arc<State>) -> Self {
        Self {
            disk,
            file,
            reserved: tip.segment.len,
            tip,
            before: None,
            short: false,
            options,
            state,
            bytes: Vec::new(),
        }
    }

    /// One write, one sync, and the receipts. The chain moves on only when both succeeded.
    pub(super) fn commit<'a>(
        &mut self,
        records: impl Iterator<Item = &'a [u8]>,
        now: Timestamp,
    ) -> io::Result<Vec<Receipt>> {
        if self.is_full(now) {
            self.rotate(now)?;
        }
        self.bytes.clear();
        let (mut next, mut last) = (self.tip.next, self.tip.last);
        let (bytes, mut receipts) = (&mut self.bytes, Vec::new());
        let mut add = |fields: &[u8]| {
            last = line::compose(bytes, next, last, fields);
            bytes.push(b'\n');
            receipts.push(Receipt { seq: next, hash: Some(last) });
            next += 1;
        };
        if let Some(Segment { first, len }) = self.before {
            let begun = Record { at: now, event: Event::Rotation { first, bytes: len } };
            add(&line::fields(&begun).ok_or(io::ErrorKind::InvalidData)?);
        }
        records.for_each(add);
        self.make_room(self.bytes.len() as u64)?;
        if let Err(error) = self.disk.append(&mut self.file, &self.bytes) {
            // Best effort, so that a reader finds a clean end; the next start cuts it off otherwise. After a failed sync
            // nothing is touched any more: what the disk holds is unknown then.
            let _ = self.disk.cut(&mut self.file, self.tip.segment.len);
            return Err(error);
        }
        self.disk.sync(&mut self.file)?;
        self.tip.segment.len += self.bytes.len() as u64;
        (self.tip.next, self.tip.last) = (next, last);
        receipts.iter().filter_map(|receipt| receipt.hash).for_each(|hash| self.tip.tree.push(hash));
        if self.before.take().is_some() {
            receipts.remove(0);
        }
        Ok(receipts)
    }

    /// Whether the present segment takes no more: it has its size, or it began on an earlier day. A clock that was set back
    /// changes nothing.
    fn is_full(&self, now: Timestamp) -> bool {
        let day = |at: Timestamp| at.as_micros().div_euclid(DAY_US);
        let Segment { len, .. } = self.tip.segment;
        len >= self.options.segment_bytes || (len > 0 && day(now) > day(self.tip.began))
    }

    /// Goes on in a new segment. It is made durable while it is empty, so its name can be there without a record and never
    /// the other way round.
    fn rotate(&mut self, now: Timestamp) -> io::Result<()> {
        let next = name(self.tip.next);
        let made = self
            .disk
            .create(&next)
            .and_then(|mut file| self.disk.reserve(&mut file, 0, self.options.ahead).map(|()| file));
        let file = match made {
            Ok(file) => file,
            Err(error) if is_full(&error) => {
                // There may be room in the full one: what runs is recorded there.
                self.set_short(true);
                return match self.disk.remove(&next) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => self.disk.sync_dir(),
                };
            }
            Err(error) => return Err(error),
        };
        self.disk.sync_dir()?;
        // Gives back what was reserved behind the full one; it is not missed when that fails.
        let _ = self.disk.cut(&mut self.file, self.tip.segment.len);
        self.before = Some(self.tip.segment);
        self.tip.segment = Segment { first: self.tip.next, len: 0 };
        self.tip.began = now;
        (self.file, self.reserved) = (file, self.options.ahead);
        Ok(())
    }

    /// Reserves ahead, so that a disk that fills up is noticed while what runs can still be recorded.
    pub(super) fn make_room(&mut self, batch: u64) -> io::Result<()> {
        let after = self.tip.segment.len + batch;
        if self.reserved >= after + self.options.low && !self.short {
            return Ok(());
        }
        let more = batch + self.options.ahead;
        match self.disk.reserve(&mut self.file, self.tip.segment.len, more) {
            Ok(()) => {
                self.reserved = self.tip.segment.len + more;
                self.set_short(false);
                Ok(())
            }
            Err(error) if is_full(&error) => {
                self.set_short(true);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn set_short(&mut self, short: bool) {
        self.short = short;
        self.state.set_short(short);
    }

    /// What a checkpoint would have to say; `None` when one was asked for already.
    pub(super) fn unanchored(&self) -> Option<Checkpoint> {
        let size = self.tip.tree.size();
        (size > self.tip.anchored).then(|| Checkpoint { size, root: self.tip.tree.root() })
    }

    /// A checkpoint was asked for.
    pub(super) const fn anchored(&mut self, checkpoint: Checkpoint) {
        self.tip.anchored = checkpoint.size;
    }

    /// Serves the queue until nobody can submit any more. The first fault is the last write: from then on everything is
    /// refused. A failed sync is never tried again, since the kernel may have dropped what it could not write.
    pub(super) fn serve(mut self, queue: &Receiver<Queued>, anchors: &SyncSender<Checkpoint>) {
        // When a checkpoint is due: so long after the first record that none covers.
        let mut due: Option<Instant> = None;
        loop {
            let room = self.state.is_short().then_some(self.options.checkpoint_every);
            let anchor = due.map(|due| due.saturating_duration_since(Instant::now()));
            let next = match room.into_iter().chain(anchor).min() {
                None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => queue.recv_timeout(wait),
            };
            let outcome = match next {
                Ok(first) => self.batch(first, queue),
                Err(RecvTimeoutError::Timeout) if self.state.is_short() && !self.state.is_poisoned() => {
                    self.make_room(0)
                }
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = outcome {
                self.state.poison(&error);
            }
            due = if self.state.is_poisoned() || self.tip.tree.size() == self.tip.anchored {
                None
            } else {
                match due {
                    Some(due) if due <= Instant::now() => self.ask(anchors),
                    Some(due) => Some(due),
                    None => Some(Instant::now() + self.options.checkpoint_every),
                }
            };
        }
        if !self.state.is_poisoned() {
            let _ = self.disk.cut(&mut self.file, self.tip.segment.len);
            if let Some(checkpoint) = self.unanchored() {
                let _ = anchors.send(checkpoint);
            }
        }
    }

    /// Takes what queued up behind the first and commits it.
    fn batch(&mut self, first: Queued, queue: &Receiver<Queued>) -> io::Result<()> {
        let mut size = first.fields.len() + OPENING;
        let mut waited_for = !first.answer.is_closed();
        let mut batch = vec![first];
        let until = Instant::now() + HELD_BACK;
        // No linger where somebody waits: what queued up during the last sync is the batch.
        while size < BATCH_BYTES {
            let next = match queue.try_recv() {
                Err(TryRecvError::Empty) if !waited_for => {
                    queue.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
                }
                next => next.ok(),
            };
            let Some(next) = next else { break };
            size += next.fields.len() + OPENING;
            waited_for |= !next.answer.is_closed();
            batch.push(next);
        }
        if self.state.is_poisoned() {
            refuse(batch);
            return Ok(());
        }
        if self.state.is_short() {
            // The room that is left is for what runs already.
            let (begin, end) = batch.into_iter().partition(|queued| queued.begins);
            refuse(begin);
            batch = end;
            if batch.is_empty() {
                return Ok(());
            }
        }
        match self.commit(batch.iter().map(|queued| queued.fields.as_slice()), environment::now()) {
            Err(error) => {
                // Before the answers: who hears a refusal finds the log shut.
                self.state.poison(&error);
                refuse(batch);
                Err(error)
            }
            Ok(receipts) => {
                for (queued, receipt) in batch.into_iter().zip(receipts) {
                    let _ = queued.answer.send(Ok(receipt));
                }
                Ok(())
            }
        }
    }

    /// Asks for a checkpoint, and says when to ask again if the one before is still being written.
    fn ask(&mut self, anchors: &SyncSender<Checkpoint>) -> Option<Instant> {
        let checkpoint = self.unanchored()?;
        match anchors.try_send(checkpoint) {
            Ok(()) => {
                self.anchored(checkpoint);
                None
            }
            Err(TrySendError::Full(_)) => Some(Instant::now() + self.options.checkpoint_every / 16),
            Err(TrySendError::Disconnected(_)) => {
                self.state.poison(&io::ErrorKind::BrokenPipe.into());
                None
            }
        }
    }
}

fn refuse(batch: Vec<Queued>) {
    for queued in batch {
        let _ = queued.answer.send(Err(SinkFault));
    }
}
