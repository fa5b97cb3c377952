//! Skills as operators and sessions see them.

use std::collections::BTreeSet;

use capability_core::policy::Rule;
use capability_core::provider::{Decisions, ProviderDecision};
use capability_core::registry::Registry;
use capability_core::skill::{Skill, SkillTool, SkilledTool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::package::Package;
use super::{Accepted, Found, HostSkills, PackageFault};
use crate::hex;

/// Where a skill stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    /// It was accepted as it is, and is in use.
    Loaded,
    /// It waits for an operator to accept it.
    Waiting,
    /// It is something else than was accepted: out of use until an operator accepts that.
    Changed,
    /// It is no skill, or none that this host can use.
    Refused,
    /// It was accepted, and its folder is gone.
    Gone,
}

impl SkillState {
    /// The word shown to people and machines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Waiting => "waiting",
            Self::Changed => "changed",
            Self::Refused => "refused",
            Self::Gone => "gone",
        }
    }
}

/// One skill. Its description, and what `why` quotes, are the package's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillTold {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub state: SkillState,
    /// Why it is not in use, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is now, as `sha256:` and the digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What was accepted, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// Which versions of this framework it was written for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatible: Option<String>,
    /// The connections that it binds.
    pub servers: Vec<String>,
    /// The tools that it uses.
    pub tools: Vec<SkillToolTold>,
    /// What it requires of policy: each rule as it would be written.
    pub requires: Vec<String>,
    /// The files that it brings along, with their sizes in bytes.
    pub resources: Vec<(String, usize)>,
}

/// One tool of a skill, and what became of it for one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillToolTold {
    /// As the skill names it: `NAME@VERSION`, or `SERVER TOOL`.
    pub named: String,
    /// What a model calls it; none where it is not shown to the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// `ready`, or what stands against it, as everywhere else; `unknown_tool` where there is no such tool.
    pub state: String,
    /// What a person is told about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A skill with everything in it: for operators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillWhole {
    /// What a list tells of it.
    #[serde(flatten)]
    pub told: SkillTold,
    /// What it tells a model: its author's words.
    pub instructions: String,
    /// What differs from what was accepted; everything where nothing was.
    pub changes: Vec<PartChange>,
}

/// One file of a skill that is not what was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartChange {
    /// Its path in the package.
    pub path: String,
    /// What was accepted, where that is text; none where there was no such file.
    pub accepted: Option<String>,
    /// What it is now, likewise.
    pub now: Option<String>,
}

/// What stands for bytes that are no text.
const NO_TEXT: &str = "(no text)";

fn digest_text(digest: &[u8; 32]) -> String {
    format!("sha256:{}", hex::encode(digest))
}

impl HostSkills {
    /// Where one skill stands.
    pub(crate) fn told(
        &self,
        name: &str,
        servers: &dyn Fn(&str) -> bool,
        registry: &Registry,
        decisions: &Decisions,
    ) -> SkillTold {
        let accepted = self.of(name);
        let look = self.look(name, servers, registry);
        let (state, why) = stands(name, &look, accepted.as_ref());
        let mut told = SkillTold {
            name: name.to_owned(),
            state,
            why,
            version: None,
            description: None,
            digest: None,
            accepted: accepted.as_ref().map(|accepted| digest_text(&accepted.digest)),
            compatible: None,
            servers: Vec::new(),
            tools: Vec::new(),
            requires: Vec::new(),
            resources: Vec::new(),
        };
        match look {
            Ok(Some(found)) => told.describe(&found, decisions),
            // What it requires holds all the same.
            Ok(None) | Err(_) => {
                let required = accepted.and_then(|accepted| accepted.package?.requirements().ok().flatten());
                told.requires = required.iter().flat_map(|source| source.rules()).map(written).collect();
            }
        }
        told
    }

    /// One skill with everything in it; none where there is nothing of that name to be shown.
    ///
    /// # Errors
    /// [`PackageFault`] when what is there is no skill.
    pub(crate) fn whole(
        &self,
        name: &str,
        servers: &dyn Fn(&str) -> bool,
        registry: &Registry,
        decisions: &Decisions,
    ) -> Result<Option<SkillWhole>, PackageFault> {
        let Some(found) = self.look(name, servers, registry)? else { return Ok(None) };
        let accepted = self.of(name).and_then(|accepted| accepted.package);
        let told = self.told(name, servers, registry, decisions);
        let instructions = found.skill.instructions().to_owned();
        Ok(Some(SkillWhole { told, instructions, changes: changes(accepted.as_deref(), &found.package) }))
    }
}

fn stands(
    name: &str,
    look: &Result<Option<Found>, PackageFault>,
    accepted: Option<&Accepted>,
) -> (SkillState, Option<String>) {
    let rest = "what the accepted one requires of policy stays in force";
    match (look, accepted) {
        (Err(fault), None) => (SkillState::Refused, Some(fault.to_string())),
        (Err(fault), Some(_)) => {
            let text = fault.to_string();
            let (what, help) = text.split_once("\nhelp: ").unwrap_or((&text, ""));
            (SkillState::Refused, Some(format!("{what}; {rest}\nhelp: {help}")))
        }
        (Ok(None), _) => {
            let help = format!("put its folder back, or remove it with `capability skills remove {name}`");
            (SkillState::Gone, Some(format!("its folder is gone; {rest}\nhelp: {help}")))
        }
        (Ok(Some(_)), None) => {
            let help = format!(
                "look at it with `capability skills show {name}`, and accept it with `capability skills accept {name}`"
            );
            (SkillState::Waiting, Some(format!("no operator has accepted it\nhelp: {help}")))
        }
        (Ok(Some(found)), Some(accepted)) if *found.skill.digest() == accepted.digest => (SkillState::Loaded, None),
        (Ok(Some(_)), Some(accepted)) => {
            let help = format!(
                "look at the difference with `capability skills show {name}`, and accept it with `capability skills accept {name}`"
            );
            (SkillState::Changed, Some(format!("it is not what was accepted at {}; {rest}\nhelp: {help}", accepted.at)))
        }
    }
}

impl SkillTold {
    fn describe(&mut self, found: &Found, decisions: &Decisions) {
        let manifest = found.skill.manifest();
        self.version = Some(manifest.version.to_string());
        self.description = Some(manifest.description.clone());
        self.digest = Some(digest_text(found.skill.digest()));
        self.compatible = Some(format!("from {} before {}", manifest.compatible.from, manifest.compatible.before));
        self.servers = manifest.mcp.iter().map(|binding| binding.server.clone()).collect();
        self.tools = tools(&found.skill, decisions);
        self.requires = manifest.rules.iter().map(written).collect();
        let size = |path: &String| (path.clone(), found.package.part(path).map_or(0, <[u8]>::len));
        self.resources = manifest.resources.iter().map(size).collect();
    }
}

/// The tools of a skill for one session: the same decisions that everybody's calls take.
pub(crate) fn tools(skill: &Skill, decisions: &Decisions) -> Vec<SkillToolTold> {
    skill.tools(decisions).iter().map(tool).collect()
}

fn tool(one: &SkilledTool<'_>) -> SkillToolTold {
    let named = match one.named {
        SkillTool::Capability { capability, version } => format!("{capability}@{version}"),
        SkillTool::Provided { server, tool } => format!("{server} {tool}"),
    };
    let of = |decision: &ProviderDecision| SkillToolTold {
        named: named.clone(),
        tool: decision.is_visible().then(|| decision.tool_name.to_string()),
        state: match decision.diagnostic() {
            Some(diagnostic) => diagnostic.as_str().to_owned(),
            None => word(decision),
        },
        message: decision.user_visible_message.as_ref().map(ToString::to_string),
    };
    one.decision.as_ref().map_or_else(
        || SkillToolTold {
            named: named.clone(),
            tool: None,
            state: capability_core::provider::Diagnostic::UnknownTool.as_str().to_owned(),
            message: Some(capability_core::provider::Diagnostic::UnknownTool.message().to_owned()),
        },
        |decision| of(decision),
    )
}

/// The admission state, as it is written everywhere.
fn word(decision: &ProviderDecision) -> String {
    let word = serde_json::to_value(decision.admission_status).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn written(rule: &Rule) -> String {
    let about = rule.selector.to_string();
    let about = if about.is_empty() { "everything".to_owned() } else { about };
    let except = rule.except.iter().map(|selector| format!(", except {selector}")).collect::<String>();
    format!("{} {about}{except}", rule.effect.as_str())
}

/// What differs between what was accepted and what is there.
fn changes(accepted: Option<&Package>, now: &Package) -> Vec<PartChange> {
    let paths = |package: &Package| package.texts().into_keys().map(str::to_owned).collect::<BTreeSet<_>>();
    let all = accepted.map(paths).into_iter().flatten().chain(paths(now)).collect::<BTreeSet<_>>();
    let text = |package: Option<&Package>, path: &str| {
        package?.part(path).map(|bytes| core::str::from_utf8(bytes).unwrap_or(NO_TEXT).to_owned())
    };
    let differs = |path: &String| accepted.and_then(|package| package.part(path)) != now.part(path);
    all.into_iter()
        .filter(differs)
        .map(|path| PartChange { accepted: text(accepted, &path), now: text(Some(now), &path), path })
        .collect()
}
