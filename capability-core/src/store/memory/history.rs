//! Histories that are forgotten with the process.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::{lock, ready};
use crate::approval::{HistoryEntry, OperatorAct};
use crate::future::BoxFuture;
use crate::session::Subject;
use crate::store::{History, StoreFault};

/// Operators' acts in memory, oldest first.
#[derive(Debug, Default)]
pub struct MemoryHistory(Mutex<VecDeque<OperatorAct>>);

/// The most that are kept; the oldest go first.
const KEPT: usize = 4096;

impl MemoryHistory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl History for MemoryHistory {
    fn tell(&self, act: OperatorAct) -> BoxFuture<'_, Result<(), StoreFault>> {
        let mut acts = lock(&self.0);
        if acts.len() >= KEPT {
            acts.pop_front();
        }
        acts.push_back(act);
        ready(())
    }

    fn newest(&self, subject: &Subject, most: u32) -> BoxFuture<'_, Result<Vec<HistoryEntry>, StoreFault>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let acts = lock(&self.0);
        let own = acts.iter().rev().filter(|act| act.subject == *subject).take(most);
        let mut newest: Vec<_> = own.cloned().map(HistoryEntry::Operator).collect();
        newest.reverse();
        ready(newest)
    }
}
