//! A sink for tests and for hosts that keep no log.

use std::sync::{Mutex, PoisonError};

use super::{Receipt, Record, Sink, SinkFault, Submission};

/// Keeps every record, in order, without formatting or hashing any. Its receipts carry no hash.
#[derive(Debug, Default)]
pub struct MemorySink {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    records: Vec<Record>,
    failed: bool,
}

impl MemorySink {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything so far.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.lock().records.clone()
    }

    /// Everything so far as JSON Lines.
    #[must_use]
    pub fn lines(&self) -> String {
        let records = self.records();
        records
            .iter()
            .filter_map(|record| serde_json::to_string(record).ok())
            .fold(String::new(), |text, line| text + &line + "\n")
    }

    /// Forgets everything so far; for long benchmarks.
    pub fn clear(&self) {
        self.lock().records.clear();
    }

    /// From now on refuses everything, as a full disk does.
    pub fn fail(&self) {
        self.lock().failed = true;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for MemorySink {
    fn submit(&self, record: Record) -> Submission {
        let mut state = self.lock();
        let State { records, failed } = &mut *state;
        if *failed {
            return Submission::Done(Err(SinkFault));
        }
        records.push(record);
        Submission::Done(Ok(Receipt { seq: records.len() as u64, hash: None }))
    }
}
