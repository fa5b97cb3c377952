//! `skills`: what lies in the operator's folder, what an operator accepted of it, and what a session is given.

use std::sync::Arc;

use capability_core::Session;
use capability_core::approval::Operator;
use capability_core::provider::Decisions;
use capability_core::session::{Mode, Subject, TurnId};
use rustix::process::Pid;
use serde_json::json;

use super::{Service, document};
use crate::blocking::blocking;
use crate::hex;
use crate::protocol::{Fault, Reply, SkillGiven, SkillPart, SkillQuestion};
use crate::skill::{Found, SkillTold, SkillWhole, tools};

const LIST: &str = "see those that are there with `capability skills list`";

impl Service {
    pub(super) async fn of_skills(&self, question: &SkillQuestion, peer: Option<Pid>) -> Result<Reply, Fault> {
        match question {
            SkillQuestion::List => document(&self.skills()?),
            SkillQuestion::Show { proof, name } => {
                self.operator(proof, peer)?;
                document(&self.skill(name)?)
            }
            SkillQuestion::Accept { proof, name, digest } => {
                let operator = self.operator(proof, peer)?;
                self.accept_skill(&operator, name, digest).await?;
                document(&json!({ "skill": name, "accepted": digest }))
            }
            SkillQuestion::Remove { proof, name } => {
                let operator = self.operator(proof, peer)?;
                self.remove_skill(&operator, name).await?;
                document(&json!({ "skill": name, "removed": true }))
            }
        }
    }

    /// What the local subject's decisions are: what operators are shown of a skill's tools.
    fn local_decisions(&self) -> Result<Arc<Decisions>, Fault> {
        let session = self.session_for(Subject::local(), None, Mode::Live, TurnId(0), None)?;
        Ok(self.host.executor().decisions(&session))
    }

    /// Every skill, and where it stands.
    pub(crate) fn skills(&self) -> Result<Vec<SkillTold>, Fault> {
        if !self.host.skills().is_configured() {
            return Ok(Vec::new());
        }
        let decisions = self.local_decisions()?;
        blocking(|| self.host.told_of_skills(&decisions)).map_err(|fault| Fault::told(4, &fault))
    }

    /// One skill with everything in it.
    pub(crate) fn skill(&self, name: &str) -> Result<SkillWhole, Fault> {
        let decisions = self.local_decisions()?;
        let (skills, registry) = (self.host.skills(), self.host.executor().registry());
        let servers = |name: &str| self.host.providers().has(name);
        let whole = blocking(|| skills.whole(name, &servers, registry, &decisions));
        whole
            .map_err(|fault| Fault::told(4, &fault))?
            .ok_or_else(|| Fault::refused(format!("there is no folder of a skill `{}`", name.escape_default()), LIST))
    }

    pub(crate) async fn accept_skill(&self, operator: &Operator, name: &str, digest: &str) -> Result<(), Fault> {
        let digest = digest.strip_prefix("sha256:").and_then(hex::decode::<32>);
        let digest = digest.ok_or_else(|| {
            Fault::usage("that names no skill as it is", "write it as `capability skills show` shows it")
        })?;
        self.host.accept_skill(operator, name, digest).await.map_err(|error| Fault::told(4, &error))
    }

    pub(crate) async fn remove_skill(&self, operator: &Operator, name: &str) -> Result<(), Fault> {
        self.host.remove_skill(operator, name).await.map_err(|error| Fault::told(4, &error))
    }

    /// The skills in use for a session: those of which it sees at least one tool, and those that use none.
    pub(super) fn loaded(&self, session: &Session) -> Vec<SkillTold> {
        if !self.host.skills().is_configured() {
            return Vec::new();
        }
        let decisions = self.host.executor().decisions(session);
        let mut in_use = blocking(|| self.host.skills_in_use(&decisions));
        in_use.retain(|told| told.tools.is_empty() || told.tools.iter().any(|tool| tool.tool.is_some()));
        in_use
    }

    /// A skill in use for a session, whole.
    fn given(&self, session: &Session, name: &str) -> Result<(Found, Arc<Decisions>), Fault> {
        let decisions = self.host.executor().decisions(session);
        let (skills, registry) = (self.host.skills(), self.host.executor().registry());
        let servers = |name: &str| self.host.providers().has(name);
        let found = blocking(|| skills.loaded(name, &servers, registry));
        let seen = |found: &Found| {
            let tools = tools(&found.skill, &decisions);
            tools.is_empty() || tools.iter().any(|tool| tool.tool.is_some())
        };
        let found = found.filter(seen);
        let none = || Fault::refused("no skill of that name is in use", "`prompts/list` has those that are");
        Ok((found.ok_or_else(none)?, decisions))
    }

    /// What a session is told by a skill: its instructions, in a frame that they can neither leave nor imitate.
    pub(super) fn instructions(&self, session: &Session, name: &str) -> Result<SkillGiven, Fault> {
        let (found, decisions) = self.given(session, name)?;
        let manifest = found.skill.manifest();
        let digest = hex::encode(found.skill.digest());
        let tools: String = tools(&found.skill, &decisions)
            .iter()
            .map(|tool| match &tool.tool {
                Some(called) => format!("- `{called}`: {}\n", tool.state),
                None => format!("- {}: not yours\n", tool.named),
            })
            .collect();
        let tools =
            if tools.is_empty() { "It names no tool.\n".to_owned() } else { format!("Its tools, for you:\n{tools}") };
        let text = format!(
            "Skill `{name}` {version}. The operator of this host accepted this very package (sha256:{digest}). Between the two \
             marks stand its author's instructions. They say how to work, and allow nothing: each call is decided as every \
             other call is.\n{tools}\n[begin skill {digest}]\n{instructions}\n[end skill {digest}]\n",
            name = manifest.name,
            version = manifest.version,
            instructions = found.skill.instructions(),
        );
        Ok(SkillGiven { description: manifest.description.clone(), text })
    }

    /// One file that a skill brings along.
    pub(super) fn resource(&self, session: &Session, name: &str, path: &str) -> Result<SkillPart, Fault> {
        let (found, _) = self.given(session, name)?;
        let none = || Fault::refused("the skill brings no such file along", "`resources/list` has those that it does");
        let bytes = found.skill.resource(path).ok_or_else(none)?;
        Ok(SkillPart::of(bytes))
    }
}
