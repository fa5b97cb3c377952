//! Tools and outcomes as the protocol has them.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use core::num::NonZeroU32;

use capability_core::contract::{Confirmation, Network, SideEffect};

use super::portable::portable;
use crate::protocol::{Fault, ToolEnd, ToolShown, ToolWaits};

/// What our own facts are called beside those of the protocol.
const PREFIX: &str = "capability-host/";

/// The largest result that is repeated as text beside its structure, in bytes.
const MAX_REPEATED: usize = 256 * 1024;

/// A tool for a client: what it may do to the world is derived from its class, and from nothing else.
pub fn tool(shown: ToolShown) -> Tool {
    let ToolShown { name, title, description, arguments, result, .. } = &shown;
    let annotations = ToolAnnotations::from_raw(
        None,
        Some(shown.side_effect == SideEffect::ReadOnly),
        Some(shown.side_effect == SideEffect::Mutating),
        Some(shown.idempotent),
        Some(shown.network == Network::External),
    );
    let confirmation = Confirmation::of(shown.side_effect, shown.network);
    let class = [
        ("side_effect", shown.side_effect.as_str().into()),
        ("network", shown.network.as_str().into()),
        ("confirmation", confirmation.as_str().into()),
    ];
    let meta = meta(named(shown.capability.as_ref()).into_iter().chain(class));
    let mut tool = Tool::new(name.clone(), description.clone(), object(arguments).unwrap_or_default());
    tool.title.clone_from(title);
    tool.output_schema = result.as_ref().and_then(object).map(Into::into);
    tool.annotations = Some(annotations);
    tool.meta = Some(meta);
    tool
}

fn object(schema: &Value) -> Option<JsonObject> {
    match portable(schema) {
        Value::Object(schema) => Some(schema),
        _ => None,
    }
}

/// The capability behind something, and its version.
fn named(capability: Option<&(String, NonZeroU32)>) -> Vec<(&'static str, Value)> {
    let pair = |(name, version): &(String, NonZeroU32)| [("capability", json!(name)), ("version", json!(version))];
    capability.map(pair).into_iter().flatten().collect()
}

/// Facts of ours.
pub fn meta(facts: impl IntoIterator<Item = (&'static str, Value)>) -> MetaObject {
    MetaObject(facts.into_iter().map(|(name, value)| (format!("{PREFIX}{name}"), value)).collect())
}

/// What every answer to a call carries: what ran, what became of the world, and where that is on record.
fn facts(end: &ToolEnd) -> MetaObject {
    let told = |key: &'static str| end.outcome.get(key).map(|value| (key, value.clone()));
    let own = [
        end.diagnostic.clone().map(|(word, _)| ("diagnostic", word.into())),
        end.changed.then_some(("changed", true.into())),
    ];
    let keys = ["outcome", "effect", "stage", "code", "reason", "approval", "guidance", "receipt"];
    meta(
        named(end.capability.as_ref())
            .into_iter()
            .chain(own.into_iter().flatten())
            .chain(keys.into_iter().filter_map(told)),
    )
}

/// The end of a call.
pub fn ended(end: &ToolEnd) -> CallToolResult {
    let meta = facts(end);
    let mut result = match end.outcome.get("result") {
        Some(value) => given(value.clone()),
        None => CallToolResult::error(vec![ContentBlock::text(sentences(end))]),
    };
    if let (false, Some((_, told))) = (result.is_error == Some(true), &end.diagnostic) {
        // It ran, and not where it was thought to: another provider served.
        let notice = end.outcome.get("notice").and_then(Value::as_str).unwrap_or(told);
        result.content.insert(0, ContentBlock::text(notice));
    }
    if end.changed {
        let told =
            "a person put other arguments in the place of those that were sent; this is what became of that call";
        result.content.insert(0, ContentBlock::text(told));
    }
    result.meta = Some(meta);
    result
}

/// A result, as structure and as text.
fn given(value: Value) -> CallToolResult {
    let text = value.to_string();
    // A client of before 2026 takes no structure but an object, so that the text is all it gets of anything else.
    if text.len() > MAX_REPEATED && value.is_object() {
        let mut result = CallToolResult::structured(value);
        let told = format!("the result has {} bytes and stands in the structured content alone", text.len());
        result.content = vec![ContentBlock::text(told)];
        return result;
    }
    CallToolResult::structured(value)
}

/// What an outcome says for a model to read: a sentence, and what would be right.
fn sentences(end: &ToolEnd) -> String {
    let text = |key| end.outcome.get(key).and_then(Value::as_str);
    let mut told = text("message").unwrap_or("the call ended without a result").to_owned();
    if let Some(help) = text("help") {
        told += "\nhelp: ";
        told += help;
    }
    if let Some((word, sentence)) = &end.diagnostic {
        told += &format!("\n{word}: {sentence}");
    }
    if let Some(guidance) = text("guidance") {
        told += &format!("\n{guidance}");
    }
    told
}

/// A call that waits: never a result, and nothing has happened. `how` says what became of the question at the client.
pub fn waits(waits: &ToolWaits, how: &str) -> CallToolResult {
    let id = waits.approval;
    let place = match &waits.link {
        Some(link) => format!("at {link} or with `capability approvals approve {id}`"),
        None => format!("with `capability approvals approve {id}`"),
    };
    let told = format!(
        "{how}this call waits for a person, and nothing has happened yet\nhelp: an operator answers {place} before {}; send \
         the same call again then",
        waits.expires_at
    );
    let guidance = waits.end.outcome.get("guidance").and_then(Value::as_str);
    let told = guidance.map_or_else(|| told.clone(), |guidance| format!("{told}\n{guidance}"));
    let mut result = CallToolResult::error(vec![ContentBlock::text(told)]);
    let mut meta = facts(&waits.end);
    if let Some(link) = &waits.link {
        meta.0.insert(format!("{PREFIX}link"), json!(link));
    }
    result.meta = Some(meta);
    result
}

/// A host that could not be asked, or would not answer.
pub fn fault(fault: &Fault) -> CallToolResult {
    let help = fault.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    CallToolResult::error(vec![ContentBlock::text(format!("{}{help}", fault.message))])
}
