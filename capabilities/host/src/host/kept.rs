//! What subjects keep, and what they left for people to look at.

use capability_core::approval::Operator;
use capability_core::audit::SettingKey;
use capability_core::session::Subject;

use super::Host;
use crate::error::SettingError;
use crate::store::sqlite::{SqliteReviews, SqliteState};

impl Host {
    /// What subjects keep, for operators.
    #[must_use]
    pub fn state(&self) -> SqliteState {
        self.database.state()
    }

    /// What subjects left for people to look at, for operators.
    #[must_use]
    pub fn reviews(&self) -> SqliteReviews {
        self.database.reviews()
    }

    /// Erases everything that a subject keeps, and says how many texts that were: recorded first, erased second. Where there is
    /// nothing, nothing is recorded.
    ///
    /// # Errors
    /// [`SettingError`]; nothing was erased then.
    pub async fn erase_state(&self, operator: &Operator, subject: &Subject) -> Result<usize, SettingError> {
        if self.state().entries(subject).await?.is_empty() {
            return Ok(0);
        }
        self.executor.record_setting(operator, SettingKey::StateErased { subject: subject.clone() }).await?;
        Ok(self.state().erase(subject).await?)
    }

    /// Ends a schedule of any subject's: recorded first, ended second.
    ///
    /// # Errors
    /// [`SettingError`]; it goes on then.
    pub async fn cancel_schedule(&self, operator: &Operator, number: u64) -> Result<(), SettingError> {
        let found = self.schedules().list(None).await?.into_iter().find(|found| found.schedule.number == number);
        let subject = found.ok_or(SettingError::NoSuchSchedule)?.maker.subject;
        self.executor.record_setting(operator, SettingKey::ScheduleCancelled { subject, number }).await?;
        self.schedules().cancel(number, None).await?;
        Ok(())
    }

    /// Closes an open review and erases what it says: recorded first, closed second.
    ///
    /// # Errors
    /// [`SettingError`]; it is still open then.
    pub async fn close_review(&self, operator: &Operator, number: u64) -> Result<(), SettingError> {
        let open = self.reviews().open().await?;
        let subject = open.into_iter().find(|review| review.number == number).map(|review| review.subject);
        let subject = subject.ok_or(SettingError::NoSuchReview)?;
        self.executor.record_setting(operator, SettingKey::ReviewClosed { subject, number }).await?;
        // Somebody else may have closed it meanwhile; then it is closed.
        self.reviews().close(number, self.environment.now()).await?;
        Ok(())
    }
}
