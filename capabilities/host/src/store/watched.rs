//! Approvals that tell when something about them changed.

use capability_core::BoxFuture;
use capability_core::Timestamp;
use capability_core::approval::{ApprovalId, ApprovalSummary, Filed, InvocationDigest};
use capability_core::session::Subject;
use capability_core::store::{Answer, Approvals, Found, Moved, StoreFault};
use tokio::sync::watch;

/// A number that is another one whenever an approval was filed, answered, used, expired or taken back.
pub type Revision = watch::Receiver<u64>;

/// A store of approvals, and who is told of its changes.
pub struct WatchedApprovals<S> {
    store: S,
    revision: watch::Sender<u64>,
}

impl<S: Approvals> WatchedApprovals<S> {
    /// Around a store.
    pub fn new(store: S) -> (Self, Revision) {
        let (revision, told) = watch::channel(0);
        (Self { store, revision }, told)
    }

    fn tell<'s, T: Send + 's>(
        &'s self,
        moved: BoxFuture<'s, Result<T, StoreFault>>,
        changed: fn(&T) -> bool,
    ) -> BoxFuture<'s, Result<T, StoreFault>> {
        Box::pin(async move {
            let moved = moved.await;
            if moved.as_ref().is_ok_and(changed) {
                self.revision.send_modify(|revision| *revision = revision.wrapping_add(1));
            }
            moved
        })
    }
}

impl<S: Approvals> Approvals for WatchedApprovals<S> {
    fn file(&self, filed: Filed) -> BoxFuture<'_, Result<bool, StoreFault>> {
        self.tell(self.store.file(filed), |filed| *filed)
    }

    fn find(&self, id: ApprovalId) -> BoxFuture<'_, Result<Option<Found>, StoreFault>> {
        self.store.find(id)
    }

    fn open(&self) -> BoxFuture<'_, Result<Vec<ApprovalSummary>, StoreFault>> {
        self.store.open()
    }

    fn answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        operator: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        self.tell(self.store.answer(id, answer, operator, now), |moved| *moved == Moved::Yes)
    }

    fn consume(
        &self,
        id: ApprovalId,
        digest: InvocationDigest,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        self.tell(self.store.consume(id, digest, now), |moved| *moved == Moved::Yes)
    }

    fn expire_due(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<ApprovalId>, StoreFault>> {
        self.tell(self.store.expire_due(now), |expired| !expired.is_empty())
    }

    fn withdraw(&self, id: ApprovalId) -> BoxFuture<'_, Result<(), StoreFault>> {
        self.tell(self.store.withdraw(id), |()| true)
    }
}
