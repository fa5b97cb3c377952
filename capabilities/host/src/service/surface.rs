//! The tools that a model sees when it speaks for somebody.

use std::sync::Arc;

use capability_core::session::{Mode, SlotPath, Subject, TurnId};
use capability_core::surface::{LeftOut, Profile, RESIDENT_BUDGET, Surface, SurfaceOptions};

use super::Service;
use crate::config::{Config, McpList};
use crate::protocol::{DeferredRow, Fault, Lost, SurfaceShown, Unshown};
use crate::tool_search::FullText;

/// How a host makes surfaces: as for every model.
fn for_models(config: &Config) -> SurfaceOptions {
    SurfaceOptions { pinned: config.surface.pinned.clone(), search: Arc::new(FullText), ..SurfaceOptions::default() }
}

/// The same for programs that speak MCP: with everything compiled where an operator says so, since they may be shown more than a
/// model's first request has room for.
pub(super) fn for_programs(config: &Config) -> SurfaceOptions {
    SurfaceOptions { every_compiled: config.mcp.list == McpList::All, ..for_models(config) }
}

impl Service {
    /// What a model would be shown, and everything that an operator should know about it.
    pub(super) fn surface(
        &self,
        subject: &Subject,
        slot: Option<&SlotPath>,
        profile: Profile,
    ) -> Result<SurfaceShown, Fault> {
        let session = self.session_for(subject.clone(), slot, Mode::Live, TurnId(0), None)?;
        let config = self.host.config();
        let options = if profile == Profile::Mcp { for_programs(config) } else { for_models(config) };
        let made = Surface::of_session(self.host.executor(), &session, &options);
        let rendered = made.rendered(profile);
        let losses = rendered.tools.iter().flat_map(|tool| {
            tool.losses.iter().map(|loss| Lost {
                tool: tool.name.clone(),
                path: loss.path.clone(),
                construct: loss.construct.to_owned(),
                why: loss.why.to_owned(),
                left_out: tool.tool.is_none(),
            })
        });
        let deferred = made.deferred().map(|tool| DeferredRow {
            name: tool.name().to_string(),
            summary: tool.summary().to_owned(),
            foreign: tool.is_foreign(),
        });
        let unshown = made.left_out().iter().map(|(name, why)| Unshown {
            tool: name.to_string(),
            bytes: match why {
                LeftOut::Budget { bytes } => Some(*bytes),
                LeftOut::Schema => None,
            },
        });
        Ok(SurfaceShown {
            subject: subject.clone(),
            slot: slot.cloned(),
            profile: profile.as_str().to_owned(),
            bytes: made.bytes(),
            budget: RESIDENT_BUDGET,
            facts: serde_json::to_value(made.facts()).unwrap_or_default(),
            skills: self.loaded(&session),
            deferred: deferred.collect(),
            unshown: unshown.collect(),
            unknown_pins: made.unknown_pins().to_vec(),
            collisions: made.collisions().iter().map(|collision| collision.name.to_string()).collect(),
            losses: losses.collect(),
            tools: rendered.tools.into_iter().filter_map(|tool| tool.tool).collect(),
        })
    }
}
