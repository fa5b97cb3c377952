//! Waiting for a person, and reading what people did.

use core::time::Duration;

use super::Executor;
use super::edit::is_waiting;
use super::standing::Leaving;
use crate::approval::{ApprovalId, HistoryEntry};
use crate::session::Session;
use crate::store::StoreFault;

/// The longest between two looks, whatever is heard: the wall clock can be set, and another host may answer.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Executor {
    /// Waits until this subject's approval is pending no more, or its session has ended: [`Executor::resume`] tells what
    /// became of it. Returns at once for what is answered, expired, or no approval of this subject's. Waiting leaves no
    /// record and uses nothing up; whoever stops waiting may come back.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn answered(&self, session: &Session, id: ApprovalId) -> Result<(), StoreFault> {
        let mut changes = self.0.changes.subscribe();
        loop {
            changes.mark_unchanged();
            self.expire_due().await?;
            let found = self.0.approvals.find(id).await?;
            let own = found.filter(|found| found.summary.identity.subject == session.identity().subject);
            let Some(found) = own.filter(|found| is_waiting(found.summary.status)) else { return Ok(()) };
            let left = found.summary.expires_at.since(self.0.environment.now());
            tokio::select! {
                biased;
                () = session.ending().comes() => return Ok(()),
                _ = changes.changed() => {}
                () = tokio::time::sleep(left.clamp(Duration::from_millis(1), LOOK_EVERY)) => {}
            }
        }
    }

    /// What happened in this subject's name: its own entries, and what operators did about its calls, the newest last.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn history(&self, session: &Session, most: u32) -> Result<Vec<HistoryEntry>, StoreFault> {
        self.0.history.newest(&session.identity().subject, most).await
    }

    /// Ends a session, and every standing answer that was given in it.
    pub async fn end_session(&self, session: &Session) {
        session.end();
        self.0.standing.leave(session.identity(), Leaving::Session);
        let _recorded = self.0.desk.lock().await;
        self.0.settle().await;
        self.0.changed();
    }
}
