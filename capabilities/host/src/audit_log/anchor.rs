//! Signing checkpoints, beside the thread that commits.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::checkpoint::Checkpoint;
use super::disk::{Disk, is_full};
use super::key::LogKey;
use super::segment::{CHECKPOINT, NEW_CHECKPOINT};
use super::state::State;

/// How soon a checkpoint for which there was no room is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Signs and writes checkpoints.
pub(super) struct Anchorer<D> {
    disk: Arc<D>,
    key: Arc<LogKey>,
}

impl<D: Disk> Anchorer<D> {
    pub(super) const fn new(disk: Arc<D>, key: Arc<LogKey>) -> Self {
        Self { disk, key }
    }

    /// Puts a checkpoint in the place of the last one; after a crash there is the one or the other. Only for records that
    /// are durable: a checkpoint is never ahead of its log.
    pub(super) fn write(&self, checkpoint: Checkpoint) -> io::Result<()> {
        let note = checkpoint.sign(&self.key);
        let mut file = self.disk.create(NEW_CHECKPOINT)?;
        self.disk.append(&mut file, note.as_bytes())?;
        self.disk.sync(&mut file)?;
        self.disk.rename(NEW_CHECKPOINT, CHECKPOINT)?;
        self.disk.sync_dir()
    }

    /// Writes what the committer asks for until it has gone.
    pub(super) fn serve(self, asked: &Receiver<Checkpoint>, state: &State) {
        let mut waiting = None;
        loop {
            let next = match waiting {
                None => asked.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) => asked.recv_timeout(AGAIN),
            };
            match next {
                Ok(checkpoint) => waiting = Some(checkpoint),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let Some(checkpoint) = waiting.filter(|_| !state.is_poisoned()) else { continue };
            match self.write(checkpoint) {
                Ok(()) => {
                    waiting = None;
                    state.set_unsigned(false);
                }
                Err(error) if is_full(&error) => state.set_unsigned(true),
                Err(error) => state.poison(&error),
            }
        }
    }
}
