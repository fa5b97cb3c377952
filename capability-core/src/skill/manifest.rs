//! What a skill declares.

use core::num::NonZeroU32;
use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Compatibility, MAX_RESOURCES, SkillFault, SkillVersion};
use crate::contract::is_valid_name;
use crate::handle::{is_configured_name, is_plain_path};
use crate::policy::{Rule, RuleEffect};
use crate::provider::is_native_id;

/// The most tools of one skill.
const MAX_TOOLS: usize = 128;

/// What a skill declares, as it is written in its `skill.toml`. Unknown keys are refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillManifest {
    /// Its name, which is that of its directory too: `[a-z][a-z0-9_-]*`, at most 32 bytes.
    pub name: String,
    /// Its version.
    pub version: SkillVersion,
    /// What it is for, in one paragraph.
    pub description: String,
    /// Which versions of this framework it was written for.
    pub compatible: Compatibility,
    /// The tools that it uses.
    #[serde(default, rename = "tool")]
    pub tools: Vec<SkillTool>,
    /// The configured connections that its tools stand behind.
    #[serde(default)]
    pub mcp: Vec<McpBinding>,
    /// The files that it brings along, by their paths below it.
    #[serde(default)]
    pub resources: Vec<String>,
    /// What it requires of policy.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// One tool that a skill uses: somebody else's, by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenTool")]
pub enum SkillTool {
    /// A capability of the build.
    Capability {
        /// By its name.
        capability: String,
        /// In this version.
        version: NonZeroU32,
    },
    /// A tool of a configured server.
    Provided {
        /// The configured connection's name.
        server: String,
        /// What the server calls the tool.
        tool: String,
    },
}

/// A tool as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTool {
    capability: Option<String>,
    version: Option<NonZeroU32>,
    server: Option<String>,
    tool: Option<String>,
}

impl TryFrom<WrittenTool> for SkillTool {
    type Error = &'static str;

    fn try_from(written: WrittenTool) -> Result<Self, Self::Error> {
        match written {
            WrittenTool { capability: Some(capability), version: Some(version), server: None, tool: None } => {
                Ok(Self::Capability { capability, version })
            }
            WrittenTool { capability: None, version: None, server: Some(server), tool: Some(tool) } => {
                Ok(Self::Provided { server, tool })
            }
            WrittenTool { .. } => Err("a tool is named by `capability` and `version`, or by `server` and `tool`"),
        }
    }
}

/// A connection that a skill's tools stand behind. The operator configures it; a skill brings none along.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpBinding {
    /// The configured connection's name.
    pub server: String,
}

impl SkillManifest {
    /// Whether its parts agree with one another.
    pub(super) fn check(&self) -> Result<(), SkillFault> {
        if !is_configured_name(&self.name) {
            return Err(SkillFault::Name);
        }
        if self.description.trim().is_empty() || self.description.len() > 1024 {
            return Err(SkillFault::Description);
        }
        if !self.compatible.includes(SkillVersion::OURS) {
            return Err(SkillFault::Incompatible);
        }
        if self.tools.len() > MAX_TOOLS || self.resources.len() > MAX_RESOURCES {
            return Err(SkillFault::TooLarge);
        }
        if self.rules.iter().any(|rule| rule.effect == RuleEffect::Allow) {
            return Err(SkillFault::RuleLowers);
        }
        let mut servers = BTreeSet::new();
        for binding in &self.mcp {
            if !is_configured_name(&binding.server) || !servers.insert(binding.server.as_str()) {
                return Err(SkillFault::Server(binding.server.clone()));
            }
        }
        for (at, tool) in self.tools.iter().enumerate() {
            if self.tools.iter().take(at).any(|before| before == tool) {
                return Err(SkillFault::ToolTwice);
            }
            match tool {
                SkillTool::Capability { capability, .. } if is_valid_name(capability) => {}
                SkillTool::Provided { server, tool } if is_native_id(tool) => {
                    if !servers.contains(server.as_str()) {
                        return Err(SkillFault::ServerUnbound(server.clone()));
                    }
                }
                SkillTool::Capability { .. } | SkillTool::Provided { .. } => return Err(SkillFault::ToolName),
            }
        }
        let mut paths = BTreeSet::new();
        for path in &self.resources {
            let own = matches!(path.as_str(), "skill.toml" | "SKILL.md");
            if own || path == "." || !is_plain_path(path) || !paths.insert(path) {
                return Err(SkillFault::ResourcePath(path.clone()));
            }
        }
        Ok(())
    }
}
