//! Repositories that are elsewhere, fetched by the operator's word.

use capability_core::approval::Operator;
use capability_core::audit::{ConfiguredName, SettingKey};

use super::Host;
use crate::broker::RepositorySource;
use crate::error::SettingError;
use crate::protocol::RepositoryState;

impl Host {
    /// Every configured repository.
    pub(crate) fn repositories(&self) -> Vec<RepositoryState> {
        let configured = self.config.bindings().repositories.iter();
        let state = |(name, source): (&String, &RepositorySource)| RepositoryState {
            name: name.clone(),
            place: match source {
                RepositorySource::Here(path) => path.display().to_string(),
                RepositorySource::Elsewhere(elsewhere) => elsewhere.server.url(),
            },
            elsewhere: matches!(source, RepositorySource::Elsewhere(_)),
            fetched_at: self.broker.repositories().and_then(|found| found.fetched_at(name)),
        };
        configured.map(state).collect()
    }

    /// Fetches a repository that is elsewhere, whole: recorded first, fetched second.
    ///
    /// # Errors
    /// [`SettingError`]; what was fetched before is still what is read then.
    pub async fn fetch_repository(&self, operator: &Operator, name: &str) -> Result<(), SettingError> {
        let source = self.config.bindings().repositories.get(name);
        let (Some(RepositorySource::Elsewhere(_)), Some(repositories), Some(repository)) =
            (source, self.broker.repositories(), ConfiguredName::of(name))
        else {
            return Err(SettingError::NoSuchRepository);
        };
        self.executor.record_setting(operator, SettingKey::RepositoryFetch { repository }).await?;
        repositories.fetch(name).await.map_err(SettingError::Fetch)
    }
}
