//! Skills as the protocol has them: what one tells is a prompt, and what it brings along are resources.

use rmcp::model::{
    GetPromptResult, ListPromptsResult, ListResourcesResult, Prompt, PromptMessage, ReadResourceResult, Resource,
    ResourceContents, Role,
};
use serde_json::json;

use super::result::meta;
use crate::protocol::{SkillGiven, SkillPart};
use crate::skill::SkillTold;

/// What an address of a skill's file begins with.
const SCHEME: &str = "skill://";

/// One prompt for each skill in use.
pub fn prompts(skills: Vec<SkillTold>) -> ListPromptsResult {
    let prompt = |told: SkillTold| {
        let title = format!("{} {}", told.name, told.version.as_deref().unwrap_or_default());
        let mut prompt = Prompt::new(told.name.clone(), told.description.clone(), None).with_title(title);
        prompt.meta = Some(facts(&told));
        prompt
    };
    ListPromptsResult::with_all_items(skills.into_iter().map(prompt).collect())
}

/// What a skill is, beside its author's words.
fn facts(told: &SkillTold) -> rmcp::model::MetaObject {
    let version = told.version.clone().map(|version| ("version", json!(version)));
    let digest = told.accepted.clone().map(|digest| ("accepted", json!(digest)));
    meta([("tools", json!(told.tools))].into_iter().chain(version).chain(digest))
}

/// What a skill tells.
pub fn given(given: SkillGiven) -> GetPromptResult {
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, given.text)]).with_description(given.description)
}

/// Every file that skills in use bring along.
pub fn resources(skills: &[SkillTold]) -> ListResourcesResult {
    let of = |told: &SkillTold| {
        let name = told.name.clone();
        let files = told.resources.iter().map(move |(path, bytes)| {
            let resource = Resource::new(format!("{SCHEME}{name}/{path}"), path.clone());
            resource.with_size(u64::try_from(*bytes).unwrap_or(u64::MAX)).with_mime_type(kind(path))
        });
        files.collect::<Vec<_>>()
    };
    ListResourcesResult::with_all_items(skills.iter().flat_map(of).collect())
}

/// Which skill and which of its files an address names.
pub fn named(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(SCHEME)?.split_once('/')
}

/// One file.
pub fn part(uri: &str, path: &str, part: SkillPart) -> ReadResourceResult {
    let contents = match part {
        SkillPart::Text(text) => ResourceContents::text(text, uri),
        SkillPart::Bytes(bytes) => ResourceContents::blob(bytes, uri),
    };
    ReadResourceResult::new(vec![contents.with_mime_type(kind(path))])
}

/// What a file is, by its name: a hint.
fn kind(path: &str) -> &'static str {
    let ends = |ending: &str| path.rsplit('.').next().is_some_and(|own| own.eq_ignore_ascii_case(ending));
    match () {
        () if ends("md") => "text/markdown",
        () if ends("txt") => "text/plain",
        () if ends("json") => "application/json",
        () => "application/octet-stream",
    }
}
