//! What the log's threads and its submitters tell one another.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// What stands against taking a record.
#[derive(Debug, Default)]
pub(super) struct State {
    poisoned: AtomicBool,
    /// There is no room to reserve.
    short: AtomicBool,
    /// There is no room for a checkpoint.
    unsigned: AtomicBool,
}

impl State {
    /// Whether a write failed.
    pub(super) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Acquire)
    }

    /// Whether room is short: what would begin something is refused then, and what runs is still recorded.
    pub(super) fn is_short(&self) -> bool {
        self.short.load(Ordering::Acquire) || self.unsigned.load(Ordering::Acquire)
    }

    pub(super) fn poison(&self, error: &io::Error) {
        if !self.poisoned.swap(true, Ordering::AcqRel) {
            tracing::error!(kind = ?error.kind(), "the audit log cannot be written: every call is refused until the host starts anew");
        }
    }

    pub(super) fn set_short(&self, short: bool) {
        self.told(&self.short, short);
    }

    pub(super) fn set_unsigned(&self, unsigned: bool) {
        self.told(&self.unsigned, unsigned);
    }

    fn told(&self, flag: &AtomicBool, now: bool) {
        let before = self.is_short();
        flag.store(now, Ordering::Release);
        match (before, self.is_short()) {
            (false, true) => tracing::error!("the audit log is short of room: no call begins until there is some"),
            (true, false) => tracing::warn!("the audit log has room again"),
            _ => {}
        }
    }
}
