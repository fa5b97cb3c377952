//! What sessions can have again.

use capability_core::approval::Operator;
use capability_core::audit::SettingKey;
use capability_core::session::Subject;
use capability_core::store::{MemoryResults, Results as _};

use super::Host;
use crate::error::SettingError;

impl Host {
    /// Results that their own sessions can have again: in memory alone, so that none outlives the host.
    #[must_use]
    pub fn results(&self) -> &MemoryResults {
        &self.results
    }

    /// Erases the results of one subject, or of all, and says how many there were: recorded first, erased second. Where there
    /// are none, nothing is recorded.
    ///
    /// # Errors
    /// [`SettingError`]; nothing was erased then.
    pub async fn erase_results(&self, operator: &Operator, subject: Option<&Subject>) -> Result<usize, SettingError> {
        if self.results.count(subject) == 0 {
            return Ok(0);
        }
        let key = SettingKey::ResultsErased { subject: subject.cloned() };
        self.executor.record_setting(operator, key).await?;
        Ok(self.results.erase(subject).await?)
    }
}
