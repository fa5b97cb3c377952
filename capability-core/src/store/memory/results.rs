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

/// Results in memory, oldest first. Nothing of them is ever on a disk.
#[derive(Debug)]
pub struct MemoryResults {
    table: Mutex<Table>,
    keep: Duration,
}

#[derive(Debug, Default)]
struct Table {
    kept: VecDeque<KeptResult>,
    bytes: usize,
}

/// The most JSON text that is kept over all sessions, in bytes; the oldest go first.
const KEPT_BYTES: usize = 32 * 1024 * 1024;

impl Table {
    fn retain(&mut self, stays: impl Fn(&KeptResult) -> bool) -> usize {
        let before = self.kept.len();
        self.kept.retain(stays);
        self.bytes = self.kept.iter().map(|kept| kept.result.result.len()).sum();
        before - self.kept.len()
    }

    fn remove(&mut self, at: usize) {
        if let Some(gone) = self.kept.remove(at) {
            self.bytes -= gone.result.result.len();
        }
    }
}

impl MemoryResults {
    /// An empty store that keeps each result for so long.
    #[must_use]
    pub fn new(keep: Duration) -> Self {
        Self { table: Mutex::default(), keep }
    }

    /// Erases what was kept long enough, and says how many results that were.
    pub fn forget(&self, now: Timestamp) -> usize {
        let keep = i64::try_from(self.keep.as_micros()).unwrap_or(i64::MAX);
        lock(&self.table).retain(|kept| now.as_micros().saturating_sub(kept.result.at.as_micros()) < keep)
    }

    /// How many results of one subject, or of all, are kept.
    #[must_use]
    pub fn count(&self, subject: Option<&Subject>) -> usize {
        lock(&self.table).kept.iter().filter(|kept| subject.is_none_or(|subject| kept.subject == *subject)).count()
    }
}

impl Results for MemoryResults {
    fn keep(&self, kept: KeptResult) {
        let bytes = kept.result.result.len();
        if bytes > MAX_KEPT_RESULT {
            return;
        }
        let mut table = lock(&self.table);
        if table.kept.iter().filter(|other| other.session == kept.session).count() >= MAX_KEPT_RESULTS
            && let Some(oldest) = table.kept.iter().position(|other| other.session == kept.session)
        {
            table.remove(oldest);
        }
        while table.bytes + bytes > KEPT_BYTES {
            table.remove(0);
        }
        table.bytes += bytes;
        table.kept.push_back(kept);
    }

    fn find(
        &self,
        session: SessionId,
        subject: &Subject,
        receipt: Receipt,
        now: Timestamp,
    ) -> BoxFuture<'static, Result<Option<OwnResult>, StoreFault>> {
        self.forget(now);
        let own = |kept: &&KeptResult| (kept.session, &kept.subject, kept.receipt) == (session, subject, receipt);
        let found = lock(&self.table).kept.iter().find(own).map(|kept| kept.result.clone());
        Box::pin(core::future::ready(Ok(found)))
    }

    fn end(&self, session: SessionId) {
        lock(&self.table).retain(|kept| kept.session != session);
    }

    fn erase(&self, subject: Option<&Subject>) -> BoxFuture<'static, Result<usize, StoreFault>> {
        let erased = lock(&self.table).retain(|kept| subject.is_some_and(|subject| kept.subject != *subject));
        Box::pin(core::future::ready(Ok(erased)))
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;
    use core::time::Duration;

    use super::{KEPT_BYTES, MemoryResults};
    use crate::audit::{LineHash, Receipt};
    use crate::handle::OwnResult;
    use crate::observation::Trust;
    use crate::session::{SessionId, Subject};
    use crate::store::{KeptResult, MAX_KEPT_RESULT, MAX_KEPT_RESULTS, Results as _};
    use crate::time::Timestamp;

    const KEEP: Duration = Duration::from_secs(60);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn session(number: u8) -> SessionId {
        SessionId::from_bytes([number; 16])
    }

    fn receipt(seq: u64) -> Receipt {
        Receipt { seq, hash: Some(LineHash::from_bytes([7; 32])) }
    }

    fn kept(of: u8, seq: u64, seconds: i64, result: String) -> KeptResult {
        KeptResult {
            session: session(of),
            subject: Subject::local(),
            receipt: receipt(seq),
            result: OwnResult {
                capability: "a.b".to_owned(),
                version: NonZeroU32::MIN,
                at: at(seconds),
                trust: Trust::OwnDevice,
                result,
            },
        }
    }

    async fn found(store: &MemoryResults, of: u8, receipt: Receipt, seconds: i64) -> Option<String> {
        let found = store.find(session(of), &Subject::local(), receipt, at(seconds)).await.unwrap();
        found.map(|found| found.result)
    }

    #[tokio::test]
    async fn a_result_is_its_own_sessions_and_subjects_alone_and_by_its_whole_receipt() {
        let store = MemoryResults::new(KEEP);
        store.keep(kept(1, 5, 0, "one".to_owned()));
        assert_eq!(found(&store, 1, receipt(5), 1).await.as_deref(), Some("one"));
        assert_eq!(found(&store, 2, receipt(5), 1).await, None);
        assert_eq!(found(&store, 1, receipt(6), 1).await, None);
        assert_eq!(found(&store, 1, Receipt { seq: 5, hash: None }, 1).await, None);
        let other = Receipt { seq: 5, hash: Some(LineHash::from_bytes([8; 32])) };
        assert_eq!(found(&store, 1, other, 1).await, None);
        let stranger: Subject = "agent:other".parse().unwrap();
        assert_eq!(store.find(session(1), &stranger, receipt(5), at(1)).await, Ok(None));
    }

    #[tokio::test]
    async fn it_is_gone_when_its_time_is_over_when_its_session_ends_and_when_somebody_says_so() {
        let store = MemoryResults::new(KEEP);
        let all = || {
            store.keep(kept(1, 1, 0, "one".to_owned()));
            store.keep(kept(2, 2, 30, "two".to_owned()));
        };
        all();
        assert_eq!(found(&store, 1, receipt(1), 59).await.as_deref(), Some("one"));
        assert_eq!(found(&store, 1, receipt(1), 60).await, None);
        assert_eq!(store.count(None), 1);
        all();
        store.end(session(2));
        assert_eq!(
            (found(&store, 1, receipt(1), 1).await.is_some(), found(&store, 2, receipt(2), 31).await),
            (true, None)
        );
        all();
        assert_eq!(store.erase(Some(&"agent:other".parse().unwrap())).await, Ok(0));
        assert_ne!(store.erase(Some(&Subject::local())).await, Ok(0));
        all();
        assert_eq!((store.erase(None).await, store.count(None)), (Ok(2), 0));
    }

    #[tokio::test]
    async fn there_is_an_end_to_how_much_is_kept() {
        let store = MemoryResults::new(KEEP);
        store.keep(kept(1, 1, 0, "x".repeat(MAX_KEPT_RESULT + 1)));
        assert_eq!(store.count(None), 0);
        for seq in 0..=MAX_KEPT_RESULTS as u64 {
            store.keep(kept(1, seq, 0, seq.to_string()));
        }
        assert_eq!(store.count(None), MAX_KEPT_RESULTS);
        assert_eq!(
            (found(&store, 1, receipt(0), 0).await, found(&store, 1, receipt(1), 0).await.is_some()),
            (None, true)
        );
        for session in 2..=12 {
            for seq in 0..MAX_KEPT_RESULTS as u64 {
                store.keep(kept(session, seq, 0, "x".repeat(MAX_KEPT_RESULT)));
            }
        }
        assert!(store.count(None) * MAX_KEPT_RESULT <= KEPT_BYTES);
        assert!(found(&store, 12, receipt(1), 0).await.is_some());
    }
}
