//! Results that are forgotten with the process.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Mutex;

use super::lock;
use crate::audit::Receipt;
use crate::future::BoxFuture;
use crate::handle::OwnResult;
use crate::session::{SessionId, Subject};
use crate::store::{KeptResult, MAX_KEPT_RESULT, MAX_KEPT_RESULTS, Results, StoreFault};
use crate::time::Timestamp;

/// Results in memory, oldest first.
#[derive(Debug)]
pub struct MemoryResults {
    kept: Mutex<VecDeque<KeptResult>>,
    keep: Duration,
}

/// The most that are kept over all sessions; the oldest go first.
const KEPT: usize = 4096;

impl MemoryResults {
    /// An empty store that keeps each result for so long.
    #[must_use]
    pub fn new(keep: Duration) -> Self {
        Self { kept: Mutex::default(), keep }
    }
}

impl Results for MemoryResults {
    fn keep(&self, kept: KeptResult) {
        if kept.result.result.len() > MAX_KEPT_RESULT {
            return;
        }
        let mut all = lock(&self.kept);
        let own = all.iter().filter(|other| other.session == kept.session).count();
        if own >= MAX_KEPT_RESULTS
            && let Some(oldest) = all.iter().position(|other| other.session == kept.session)
        {
            all.remove(oldest);
        }
        if all.len() >= KEPT {
            all.pop_front();
        }
        all.push_back(kept);
    }

    fn find(
        &self,
        session: SessionId,
        subject: &Subject,
        receipt: Receipt,
        now: Timestamp,
    ) -> BoxFuture<'static, Result<Option<OwnResult>, StoreFault>> {
        let mut all = lock(&self.kept);
        let keep = i64::try_from(self.keep.as_micros()).unwrap_or(i64::MAX);
        all.retain(|kept| now.as_micros().saturating_sub(kept.result.at.as_micros()) < keep);
        let own = |kept: &&KeptResult| (kept.session, &kept.subject, kept.receipt) == (session, subject, receipt);
        let found = all.iter().find(own).map(|kept| kept.result.clone());
        Box::pin(core::future::ready(Ok(found)))
    }

    fn end(&self, session: SessionId) {
        lock(&self.kept).retain(|kept| kept.session != session);
    }

    fn erase(&self, subject: Option<&Subject>) -> BoxFuture<'static, Result<usize, StoreFault>> {
        let mut all = lock(&self.kept);
        let before = all.len();
        all.retain(|kept| subject.is_some_and(|subject| kept.subject != *subject));
        let erased = before - all.len();
        Box::pin(core::future::ready(Ok(erased)))
    }
}
