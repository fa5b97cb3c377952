//! What a model is shown, for operators.

use capability_core::session::Subject;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::skill::SkillTold;

/// The tools of one subject as one provider of models takes them.
#[derive(Debug, Serialize, Deserialize)]
pub struct SurfaceShown {
    /// Whose.
    pub subject: Subject,
    /// Whose way of writing tools.
    pub profile: String,
    /// The array of tools.
    pub tools: Vec<Value>,
    /// How many bytes the array has as the surface itself counts it, whatever the profile.
    pub bytes: usize,
    /// How many it may have, without what is pinned.
    pub budget: usize,
    /// What stands against calling tools now.
    pub facts: Value,
    /// The skills in use, with what each demands.
    #[serde(default)]
    pub skills: Vec<SkillTold>,
    /// The tools that a search finds.
    pub deferred: Vec<DeferredRow>,
    /// The tools that wanted to be shown and are not.
    pub unshown: Vec<Unshown>,
    /// Pins that name no visible tool.
    pub unknown_pins: Vec<String>,
    /// Names that two tools would have.
    pub collisions: Vec<String>,
    /// What the profile cannot say.
    pub losses: Vec<Lost>,
}

/// A tool that a search finds.
#[derive(Debug, Serialize, Deserialize)]
pub struct DeferredRow {
    /// What a model calls it.
    pub name: String,
    /// What it does.
    pub summary: String,
    /// Whether these are a provider's words.
    pub foreign: bool,
}

/// A tool that wanted to be shown and is not.
#[derive(Debug, Serialize, Deserialize)]
pub struct Unshown {
    /// Which.
    pub tool: String,
    /// What it would have taken; none when its schema is at fault.
    pub bytes: Option<usize>,
}

/// Something that the profile cannot say.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lost {
    /// Of which tool.
    pub tool: String,
    /// Where in its schema.
    pub path: String,
    /// What.
    pub construct: String,
    /// Why, and what becomes of it.
    pub why: String,
    /// Whether the tool is left out for it.
    pub left_out: bool,
}
