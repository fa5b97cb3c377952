//! Grants that forget with the process.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Mutex;

use super::{lock, ready};
use crate::approval::{Grant, GrantEnd, GrantId};
use crate::future::BoxFuture;
use crate::store::{Grants, Spent, StoreFault};
use crate::time::Timestamp;

/// Grants in memory, the newest first.
#[derive(Debug, Default)]
pub struct MemoryGrants(Mutex<VecDeque<(Grant, Option<Timestamp>)>>);

/// The most that are kept; the oldest go first.
const KEPT: usize = 4096;
/// How long one that has ended is shown.
const ENDED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

impl MemoryGrants {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

fn end(kept: &mut (Grant, Option<Timestamp>), why: GrantEnd, now: Timestamp) {
    kept.0.ended = Some(why);
    kept.0.target = None;
    kept.1 = Some(now);
}

impl Grants for MemoryGrants {
    fn create(&self, grant: Grant) -> BoxFuture<'_, Result<(), StoreFault>> {
        let mut kept = lock(&self.0);
        let now = grant.created_at;
        kept.retain(|(_, ended)| ended.is_none_or(|ended| now < ended.after(ENDED_KEPT)));
        kept.truncate(KEPT - 1);
        kept.push_front((grant, None));
        ready(())
    }

    fn spend(&self, id: GrantId, now: Timestamp) -> BoxFuture<'_, Result<Spent, StoreFault>> {
        let mut kept = lock(&self.0);
        let found = kept.iter_mut().find(|(grant, _)| grant.id == id);
        let Some(one) = found.filter(|(grant, _)| grant.ended.is_none() && grant.left() > 0 && now < grant.expires_at)
        else {
            return ready(Spent::Not);
        };
        one.0.used += 1;
        one.0.last_used_at = Some(now);
        let left = one.0.left();
        if left == 0 {
            end(one, GrantEnd::UsedUp, now);
        }
        ready(Spent::Left(left))
    }

    fn end(&self, id: GrantId, why: GrantEnd, now: Timestamp) -> BoxFuture<'_, Result<bool, StoreFault>> {
        let mut kept = lock(&self.0);
        let found = kept.iter_mut().find(|(grant, _)| grant.id == id && grant.ended.is_none());
        let ended = found.is_some();
        found.into_iter().for_each(|one| end(one, why, now));
        ready(ended)
    }

    fn all(&self) -> BoxFuture<'_, Result<Vec<Grant>, StoreFault>> {
        ready(lock(&self.0).iter().map(|(grant, _)| grant.clone()).collect())
    }
}
