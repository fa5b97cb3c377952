//! What operators do about skills.

use std::sync::Arc;

use capability_core::approval::Operator;
use capability_core::audit::{ConfiguredName, SettingKey, SkillSet};
use capability_core::policy::{Policy, PolicyRevision};
use capability_core::provider::Decisions;

use super::Host;
use crate::blocking::blocking;
use crate::error::SettingError;
use crate::policy::zone;
use crate::skill::{Found, HostSkills, PackageFault, SkillState, SkillTold};

impl Host {
    /// The skills that lie in the configured folder, and those that were accepted.
    #[must_use]
    pub const fn skills(&self) -> &Arc<HostSkills> {
        &self.skills
    }

    /// Every skill and where it stands, with its tools as these decisions have them. Reads files.
    ///
    /// # Errors
    /// [`PackageFault`] when the folder cannot be read.
    pub fn told_of_skills(&self, decisions: &Decisions) -> Result<Vec<SkillTold>, PackageFault> {
        let (servers, registry) = (|name: &str| self.providers.has(name), self.executor.registry());
        let names = self.skills.names()?;
        Ok(names.iter().map(|name| self.skills.told(name, &servers, registry, decisions)).collect())
    }

    /// The skills that are in use, with their tools as these decisions have them. Reads the files of those that were accepted,
    /// and of no others.
    #[must_use]
    pub fn skills_in_use(&self, decisions: &Decisions) -> Vec<SkillTold> {
        let (servers, registry) = (|name: &str| self.providers.has(name), self.executor.registry());
        let names = self.skills.accepted_names();
        let told = names.iter().map(|name| self.skills.told(name, &servers, registry, decisions));
        told.filter(|told| told.state == SkillState::Loaded).collect()
    }

    /// Lets a skill come into use as it is now: recorded first, in force second. `digest` names the package that the operator
    /// looked at.
    ///
    /// # Errors
    /// [`SettingError`]; nothing has changed then.
    pub async fn accept_skill(&self, operator: &Operator, name: &str, digest: [u8; 32]) -> Result<(), SettingError> {
        let servers = |server: &str| self.providers.has(server);
        let look = || self.skills.look(name, &servers, self.executor.registry());
        let found = blocking(look).ok().flatten().filter(|found| *found.skill.digest() == digest);
        let found = found.ok_or(SettingError::NotThatSkill)?;
        self.record_skill(operator, name, true, Some(&found)).await?;
        self.skills.accept(name, &found, self.environment.now()).await?;
        self.note_change();
        Ok(())
    }

    /// Takes a skill out of use, and with it what it requires of policy: recorded first, done second.
    ///
    /// # Errors
    /// [`SettingError`]; nothing has changed then.
    pub async fn remove_skill(&self, operator: &Operator, name: &str) -> Result<(), SettingError> {
        if !self.skills.is_accepted(name) {
            return Err(SettingError::NoSuchSkill);
        }
        self.record_skill(operator, name, false, None).await?;
        let gone = self.skills.remove(name).await?;
        self.note_change();
        if gone { Ok(()) } else { Err(SettingError::NoSuchSkill) }
    }

    async fn record_skill(
        &self,
        operator: &Operator,
        name: &str,
        accepted: bool,
        found: Option<&Found>,
    ) -> Result<(), SettingError> {
        let skill = ConfiguredName::of(name).ok_or(SettingError::NoSuchSkill)?;
        let requires = found.and_then(revision);
        let key = SettingKey::Skill(SkillSet { skill, accepted, requires });
        self.executor.record_setting(operator, key).await?;
        Ok(())
    }
}

/// Which rules a skill brings along.
fn revision(found: &Found) -> Option<PolicyRevision> {
    let required = found.skill.requirements()?;
    Policy::compile(vec![required], &zone).ok().map(|policy| policy.revision())
}
