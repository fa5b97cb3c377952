//! Skills: packages of instructions, tools, MCP bindings, resources and policy requirements.
//!
//! A skill brings no capability along and bypasses no decision: what it names is owned by somebody and bound here, or is said
//! not to be. What it requires of policy can only raise. Its instructions are what its author writes, shown to whoever accepts
//! it, and no authority. Source: the capability system's contract, "Skills".

mod fault;
mod manifest;
mod version;

pub use fault::SkillFault;
pub use manifest::{McpBinding, SkillManifest, SkillTool};
pub use version::{Compatibility, SkillVersion};

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::policy::{Source, SourceKind};
use crate::provider::{AdmissionStatus, Decisions, ProviderDecision, ProviderType};
use crate::registry::Registry;

/// The longest instructions, in bytes.
pub const MAX_INSTRUCTION_BYTES: usize = 64 * 1024;

/// The most that all files of a skill have together, in bytes.
pub const MAX_SKILL_BYTES: usize = 4 * 1024 * 1024;

/// The most resources of one skill.
pub const MAX_RESOURCES: usize = 256;

/// A skill whose parts agree with one another. Whether it is used is an operator's to say, by its [`digest`](Skill::digest).
#[derive(Debug, Clone)]
pub struct Skill {
    manifest: SkillManifest,
    instructions: Arc<str>,
    resources: BTreeMap<String, Arc<[u8]>>,
    digest: [u8; 32],
}

/// One tool that a skill names, and what became of it for one session.
#[derive(Debug, Clone)]
pub struct SkilledTool<'s> {
    /// As it is named.
    pub named: &'s SkillTool,
    /// The decision about it; none where there is no such tool for the session.
    pub decision: Option<Arc<ProviderDecision>>,
}

impl SkilledTool<'_> {
    /// Whether it can run now.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.decision.as_ref().is_some_and(|decision| decision.admission_status == AdmissionStatus::Ready)
    }
}

impl Skill {
    /// Puts a skill together from its files: the manifest as it was parsed and as it was written, the instructions, and every
    /// resource by its path. Nothing is read here.
    ///
    /// # Errors
    /// [`SkillFault`] names what is wrong and what would be right.
    pub fn new(
        manifest: SkillManifest,
        manifest_text: &[u8],
        instructions: &[u8],
        resources: BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, SkillFault> {
        manifest.check()?;
        let instructions = core::str::from_utf8(instructions).map_err(|_| SkillFault::InstructionsNotText)?;
        if instructions.trim().is_empty() || instructions.len() > MAX_INSTRUCTION_BYTES {
            return Err(SkillFault::InstructionsSize);
        }
        if let Some(missing) = manifest.resources.iter().find(|path| !resources.contains_key(*path)) {
            return Err(SkillFault::ResourceMissing(missing.clone()));
        }
        if let Some(other) = resources.keys().find(|path| !manifest.resources.contains(path)) {
            return Err(SkillFault::ResourceUndeclared(other.clone()));
        }
        let whole = manifest_text.len() + instructions.len() + resources.values().map(Vec::len).sum::<usize>();
        if whole > MAX_SKILL_BYTES {
            return Err(SkillFault::TooLarge);
        }
        let mut hash = Sha256::new_with_prefix(b"capability skill, version 1");
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        part(manifest_text);
        part(instructions.as_bytes());
        for (path, content) in &resources {
            part(path.as_bytes());
            part(content);
        }
        let digest = hash.finalize().into();
        let resources = resources.into_iter().map(|(path, content)| (path, content.into())).collect();
        Ok(Self { manifest, instructions: instructions.into(), resources, digest })
    }

    /// What it declares.
    #[must_use]
    pub const fn manifest(&self) -> &SkillManifest {
        &self.manifest
    }

    /// What it tells a model, in its author's words.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// One of its resources, by its path.
    #[must_use]
    pub fn resource(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.resources.get(path)
    }

    /// SHA-256 over every byte of it: what an operator accepts. One changed byte is another skill.
    #[must_use]
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// What it requires of policy, as a source of rules that may only raise; none when it requires nothing.
    #[must_use]
    pub fn requirements(&self) -> Option<Source> {
        let rules = &self.manifest.rules;
        (!rules.is_empty()).then(|| Source::new(SourceKind::Package, &self.digest, rules.clone()))
    }

    /// Whether what it names is owned: each capability is registered here in that version, and each provider's tool stands
    /// behind a connection that the skill itself binds, and that is configured here.
    ///
    /// # Errors
    /// [`SkillFault`] names the first that is not.
    pub fn check_owned(&self, registry: &Registry, configured: impl Fn(&str) -> bool) -> Result<(), SkillFault> {
        if let Some(unknown) = self.manifest.mcp.iter().find(|binding| !configured(&binding.server)) {
            return Err(SkillFault::ServerUnknown(unknown.server.clone()));
        }
        for tool in &self.manifest.tools {
            if let SkillTool::Capability { capability, version } = tool
                && registry.resolve(capability, version.get()).is_none_or(|held| held.through().is_some())
            {
                return Err(SkillFault::ToolUnowned(format!("{capability}@{version}")));
            }
        }
        Ok(())
    }

    /// What became of each of its tools for one session: the same decisions that everybody's calls take.
    #[must_use]
    pub fn tools<'s>(&'s self, decisions: &Decisions) -> Vec<SkilledTool<'s>> {
        let decided = |named: &SkillTool| match named {
            SkillTool::Capability { capability, version } => decisions.compiled(capability, *version),
            SkillTool::Provided { server, tool } => decisions.provided(ProviderType::Mcp, server, tool),
        };
        self.manifest.tools.iter().map(|named| SkilledTool { named, decision: decided(named).cloned() }).collect()
    }
}
