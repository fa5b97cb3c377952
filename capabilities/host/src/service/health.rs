//! How tools have been doing: told to whoever would call one again, and to operators.

use capability_core::Session;
use capability_core::approval::PendingApproval;
use capability_core::contract::{Class, SideEffect};
use capability_core::executor::Outcome;
use capability_core::provider::{GUIDANCE, HealthKey, ProviderType, ToolHealth, ToolTag};
use serde_json::Value;

use super::{Service, unsaid};
use crate::protocol::{Fault, ForeignTool, HealthTold, Reply};

impl Service {
    /// An outcome as it is told: with what stands against the call in words of its own, and once a session for each time that
    /// its tool began to fail, with what to do about that.
    pub(super) fn outcome_told(&self, session: &Session, outcome: &Outcome) -> Result<Value, Fault> {
        let mut told = serde_json::to_value(outcome).map_err(|_| unsaid())?;
        let now = self.host.environment().now();
        if let Some(told) = told.as_object_mut()
            && let Some(guidance) = self.host.health().after(outcome, session.identity().id, now)
        {
            told.insert("guidance".to_owned(), guidance.into());
        }
        Ok(told)
    }

    pub(super) fn outcome(&self, session: &Session, outcome: &Outcome) -> Result<Reply, Fault> {
        self.outcome_told(session, outcome).map(Reply::Outcome)
    }

    /// Every tool that was ever run, with how it has been doing.
    pub(crate) fn health(&self) -> Vec<HealthTold> {
        let all = self.host.health().all();
        all.iter().filter_map(|(key, health)| self.health_of(key, health)).collect()
    }

    fn health_of(&self, key: &HealthKey, health: &ToolHealth) -> Option<HealthTold> {
        let parts = key.parts()?;
        let (class, tool) = match parts.tool {
            None => {
                let held = self.host.executor().registry().resolve(parts.capability, parts.version.get());
                (held.map_or(Class::STRICTEST, |held| held.entry().class()), None)
            }
            Some(tag) => self.tool_of(parts.kind, parts.provider, tag).unwrap_or((Class::STRICTEST, None)),
        };
        let failing = health.is_failing(self.host.environment().now());
        Some(HealthTold {
            capability: parts.capability.to_owned(),
            version: parts.version,
            kind: parts.kind.as_str().to_owned(),
            provider: parts.provider.to_owned(),
            tool: tool.or_else(|| parts.tool.map(|tag| tag.to_string())),
            worked: health.worked,
            failed: health.failed,
            in_a_row: health.in_a_row,
            last: health.last.as_str().to_owned(),
            at: health.at,
            failing,
            guidance: (failing && class.side_effect == SideEffect::Mutating).then(|| GUIDANCE.to_owned()),
        })
    }

    /// The class and name of a provider's tool with this number, where that is known now.
    fn tool_of(&self, kind: ProviderType, provider: &str, tag: ToolTag) -> Option<(Class, Option<String>)> {
        let snapshot = self.host.executor().providers();
        let mut providers = snapshot.providers().iter().filter(|state| state.kind == kind && *state.id == *provider);
        let tool = providers
            .find_map(|state| state.tools.iter().find(|tool| ToolTag::of(kind, &tool.definition().id) == tag))?;
        Some((tool.class().0, Some(tool.definition().id.native.clone())))
    }

    /// What somebody who answers a question has to know of how its tool has been doing: what has been failing, and may do
    /// something twice.
    pub(crate) fn failing(&self, pending: &PendingApproval, foreign: Option<&ForeignTool>) -> Vec<HealthTold> {
        let is = |told: &HealthTold| {
            told.guidance.is_some()
                && told.capability == pending.capability
                && told.version == pending.version
                && foreign.is_none_or(|tool| told.provider == tool.server && told.tool.as_ref() == Some(&tool.tool))
        };
        self.health().into_iter().filter(is).collect()
    }
}
