//! What operators do about the servers whose tools can be called.

use std::sync::Arc;

use capability_core::approval::Operator;
use capability_core::audit::{EdgeSet, ProvidedBy, SettingKey};
use capability_core::provider::{ProviderType, RemoteProvider, ToolTag};
use capability_core::session::Subject;

use super::Host;
use crate::blocking::blocking;
use crate::error::SettingError;
use crate::provider::{HostEdges, HostProviders};

impl Host {
    /// The servers that the operator configured.
    #[must_use]
    pub const fn providers(&self) -> &Arc<HostProviders> {
        &self.providers
    }

    /// The edges and relays that the operator configured.
    #[must_use]
    pub const fn edges(&self) -> &Arc<HostEdges> {
        &self.edges
    }

    /// Attaches the way to a configured edge, in place of the one it had. Whether there is an edge of that name and kind.
    #[must_use]
    pub fn attach_edge(&self, transport: Arc<dyn RemoteProvider>) -> bool {
        let attached = self.edges.attach(transport);
        if attached {
            self.note_change();
        }
        attached
    }

    /// Switches an edge on or off: recorded first, changed second.
    ///
    /// # Errors
    /// [`SettingError`]; nothing has changed then.
    pub async fn switch_edge(&self, operator: &Operator, name: &str, on: bool) -> Result<(), SettingError> {
        let provided = self.edges.kind_of(name).and_then(|kind| ProvidedBy::named(kind, name, None));
        let provided = provided.ok_or(SettingError::UnknownEdge)?;
        self.executor.record_setting(operator, SettingKey::Edge(EdgeSet { provided, on })).await?;
        match blocking(|| self.edges.switch(name, on))? {
            true => self.note_change(),
            false => return Err(SettingError::UnknownEdge),
        }
        Ok(())
    }

    /// Lets a provider's tool come into use again as it is now: recorded first, in force second. `digest` names the definition
    /// that the operator looked at.
    ///
    /// # Errors
    /// [`SettingError`]; nothing has changed then.
    pub async fn accept_definition(
        &self,
        operator: &Operator,
        server: &str,
        tool: &str,
        digest: [u8; 32],
    ) -> Result<(), SettingError> {
        let mut changes = self.providers.changes(server).into_iter();
        let waits = changes.find(|change| change.now.id.native == tool && change.now.digest() == digest);
        let tag = waits.map(|change| ToolTag::of(ProviderType::Mcp, &change.now.id));
        let provided = tag.and_then(|tag| ProvidedBy::named(ProviderType::Mcp, server, Some(tag)));
        let provided = provided.ok_or(SettingError::NotThatDefinition)?;
        self.executor.record_setting(operator, SettingKey::DefinitionAccepted { provided }).await?;
        match self.providers.accept(server, tool, digest).await? {
            true => Ok(()),
            false => Err(SettingError::NotThatDefinition),
        }
    }

    /// Keeps a subject's token for a provider, or everybody's; forgets it without one. Recorded first.
    ///
    /// # Errors
    /// [`SettingError`]; nothing has changed then.
    pub async fn set_provider_token(
        &self,
        operator: &Operator,
        server: &str,
        subject: Option<&Subject>,
        token: Option<&str>,
    ) -> Result<(), SettingError> {
        let provided = ProvidedBy::named(ProviderType::Mcp, server, None).filter(|_| self.providers.has(server));
        let provided = provided.ok_or(SettingError::UnknownProvider)?;
        let key = SettingKey::ProviderCredential { provided, subject: subject.cloned(), kept: token.is_some() };
        self.executor.record_setting(operator, key).await?;
        let credentials = self.providers.credentials();
        match token {
            Some(token) => blocking(|| credentials.set(server, subject, token))?,
            None => drop(blocking(|| credentials.remove(server, subject))?),
        }
        self.providers.token_changed(server, subject);
        Ok(())
    }
}
