//! What sessions and subjects can have again.

use capability_core::approval::Operator;
use capability_core::audit::SettingKey;
use capability_core::session::{SessionId, Subject};
use capability_core::store::{MemoryResults, Results as _};

use super::Host;
use crate::error::SettingError;

impl Host {
    /// Results that their own sessions can have again: in memory alone, so that none outlives the host.
    #[must_use]
    pub fn results(&self) -> &MemoryResults {
        &self.results
    }

    /// Erases the results of one subject, or of all, and what their commands in the background wrote that are over; says how many
    /// there were of both: recorded first, erased second. Where there are none, nothing is recorded.
    ///
    /// # Errors
    /// [`SettingError`]; nothing was erased then.
    pub async fn erase_results(&self, operator: &Operator, subject: Option<&Subject>) -> Result<usize, SettingError> {
        let over = self.broker.processes().map_or(0, |processes| processes.count_over(subject));
        if self.results.count(subject) + over == 0 {
            return Ok(0);
        }
        let key = SettingKey::ResultsErased { subject: subject.cloned() };
        self.executor.record_setting(operator, key).await?;
        let over = self.broker.processes().map_or(0, |processes| processes.forget(subject));
        Ok(self.results.erase(subject).await? + over)
    }

    /// Ends what was left running in a session in which nobody asks any more.
    pub(crate) fn end_processes_of(&self, session: SessionId) {
        self.broker.leave(session);
    }

    /// Forgets what commands in the background wrote that ended long ago.
    pub(crate) fn sweep_processes(&self) {
        if let Some(processes) = self.broker.processes() {
            processes.sweep();
        }
    }
}
