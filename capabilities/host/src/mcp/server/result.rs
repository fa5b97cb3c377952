//! Tools and outcomes as the protocol has them.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use core::num::NonZeroU32;

use capability_core::approval::ApprovalId;
use capability_core::contract::{Confirmation, Network, SideEffect};
use capability_core::handle::{ToolContent, ToolReply};

use super::handler::Age;
use super::portable::portable;
use crate::cli::in_own_words;
use crate::protocol::{Fault, ToolEnd, ToolShown, ToolWaits};

/// What our own facts are called beside those of the protocol.
const PREFIX: &str = "capability-host/";

/// The largest result that is repeated as text beside its structure, in bytes.
const MAX_REPEATED: usize = 256 * 1024;

/// The largest text that a client is given in the place of a structure, in bytes as they are sent: what stands in it as JSON is
/// escaped once more there.
const MAX_TEXT: usize = 8 * 1024 * 1024;

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
    let keys = ["outcome", "effect", "stage", "code", "reason", "approval", "guidance", "notice", "trace", "receipt"];
    meta(
        named(end.capability.as_ref())
            .into_iter()
            .chain(own.into_iter().flatten())
            .chain(keys.into_iter().filter_map(told)),
    )
}

/// What the error of a call of nothing carries.
pub fn data(end: &ToolEnd) -> Value {
    Value::Object(facts(end).0)
}

/// The end of a call.
pub fn ended(end: &ToolEnd, age: Age) -> CallToolResult {
    let meta = facts(end);
    let mut result = match end.outcome.get("result") {
        Some(value) => lifted(end, value).unwrap_or_else(|| given(value.clone(), age)),
        None => CallToolResult::error(vec![ContentBlock::text(sentences(end))]),
    };
    // Another provider served, or one that works less well than it could: that is for people, whatever became of the call.
    if let Some(notice) = end.outcome.get("notice").and_then(Value::as_str) {
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

/// The capabilities that providers' own tools are called through.
const THROUGH: [&str; 3] = ["mcp.call", "edge.call", "relay.call"];

/// What a provider's tool answered, in the protocol's own places: a failure there is a failure here, its text is text, and its
/// data is what its own schema promises.
fn lifted(end: &ToolEnd, value: &Value) -> Option<CallToolResult> {
    let (through, _) = end.capability.as_ref()?;
    if !THROUGH.contains(&through.as_str()) {
        return None;
    }
    let reply: ToolReply = serde_json::from_value(value.clone()).ok()?;
    let content = reply.content.into_iter().map(|piece| match piece {
        ToolContent::Text { text } => ContentBlock::text(text),
        ToolContent::Omitted { what, bytes } => {
            let what = serde_json::to_value(what).unwrap_or_default();
            let what = what.as_str().unwrap_or("other");
            ContentBlock::text(format!("[left out: content of the kind `{what}`, {bytes} bytes]"))
        }
    });
    let mut content: Vec<_> = content.collect();
    // As with any result: whoever takes no structure, or none but an object, is not left without.
    content.extend(
        reply
            .structured
            .as_ref()
            .filter(|data| !data.is_object() || content.is_empty())
            .map(|data| ContentBlock::text(data.to_string())),
    );
    let mut result = CallToolResult::success(content);
    result.is_error = Some(reply.is_error);
    result.structured_content = reply.structured;
    Some(result)
}

/// A result, as structure and as text; a large one as one of both.
fn given(value: Value, age: Age) -> CallToolResult {
    let text = value.to_string();
    if text.len() <= MAX_REPEATED {
        return CallToolResult::structured(value);
    }
    // A client of before 2026 takes no structure but an object, so that the text is all it gets of anything else.
    if age == Age::Newer || value.is_object() {
        let told = format!("the result has {} bytes and stands in the structured content alone", text.len());
        let mut result = CallToolResult::structured(value);
        result.content = vec![ContentBlock::text(told)];
        return result;
    }
    let sent = Value::from(text.as_str()).to_string().len();
    if sent > MAX_TEXT {
        let told = format!(
            "the result has {sent} bytes as this program is sent it, which is more than {MAX_TEXT}; the call has ended all the \
             same\nhelp: look at its effect before asking again, and ask for less"
        );
        return CallToolResult::error(vec![ContentBlock::text(told)]);
    }
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// What an outcome says for a model to read: a sentence, and what would be right.
fn sentences(end: &ToolEnd) -> String {
    let text = |key| end.outcome.get(key).and_then(Value::as_str);
    let mut told = text("message").unwrap_or("the call ended without a result").to_owned();
    if let Some(help) = text("help") {
        told += &helped(help);
    }
    if let Some((word, sentence)) = &end.diagnostic {
        told += &format!("\n{word}: {}", in_own_words(sentence));
    }
    if let Some(guidance) = text("guidance") {
        told += &format!("\n{guidance}");
    }
    told
}

/// What would be right, below what was wrong. Commands in it have this program's own name: a client may tell a person to type them.
pub fn helped(help: &str) -> String {
    format!("\nhelp: {}", in_own_words(help))
}

/// The command that answers a question, as a person types it here.
pub fn command(id: ApprovalId) -> String {
    in_own_words(&format!("`capability approvals approve {id}`")).into_owned()
}

/// A call that waits: never a result, and nothing has happened. `how` says what became of the question at the client.
pub fn waits(waits: &ToolWaits, how: &str) -> CallToolResult {
    let command = command(waits.approval);
    let place = match &waits.link {
        Some(link) => format!("at {link} or with {command}"),
        None => format!("with {command}"),
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
    let help = fault.help.as_deref().map(helped).unwrap_or_default();
    CallToolResult::error(vec![ContentBlock::text(format!("{}{help}", fault.message))])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_REPEATED, MAX_TEXT, ended, given};
    use crate::mcp::server::handler::Age;
    use crate::protocol::ToolEnd;

    /// How many bytes of an answer repeat what the value holds, and whether it is a failure.
    fn sent(value: &Value, age: Age) -> (usize, bool, bool, bool) {
        let result = given(value.clone(), age);
        let texts: usize = result.content.iter().filter_map(|block| Some(block.as_text()?.text.len())).sum();
        let whole = serde_json::to_string(&result).unwrap().len();
        (whole, result.structured_content.is_some(), texts > MAX_REPEATED / 2, result.is_error == Some(true))
    }

    #[test]
    fn a_large_result_is_sent_once_whatever_it_is_and_whoever_asks() {
        // In quotes, a text takes two bytes more.
        let at = "x".repeat(MAX_REPEATED - 2);
        let above = format!("{at}x");
        for age in [Age::Older, Age::Newer] {
            let (_, structured, text, failed) = sent(&json!(at), age);
            assert_eq!((structured, text, failed), (true, true, false), "{age:?}");
            // One byte more, and it stands in one place only: for an older client, a text is no structure.
            let (whole, structured, text, failed) = sent(&json!(above), age);
            assert_eq!((structured, text, failed), (age == Age::Newer, age == Age::Older, false), "{age:?}");
            assert!(whole < MAX_REPEATED + 1024, "{age:?}: {whole}");
            let (whole, structured, text, failed) = sent(&json!({ "a": above }), age);
            assert_eq!((structured, text, failed), (true, false, false), "{age:?}");
            assert!(whole < MAX_REPEATED + 1024, "{age:?}: {whole}");
        }
    }

    #[test]
    fn what_grows_by_being_written_out_twice_is_told_by_its_size() {
        // Six bytes of JSON for each, and seven once that stands in a text.
        let hostile = json!("\u{1}".repeat(MAX_TEXT / 6));
        let (whole, structured, text, failed) = sent(&hostile, Age::Older);
        assert_eq!((structured, text, failed), (false, false, true));
        assert!(whole < 1024, "{whole}");
        let told = given(hostile.clone(), Age::Older).content[0].as_text().unwrap().text.clone();
        assert!(told.contains("bytes") && told.contains("\nhelp: ") && !told.contains("u0001"), "{told}");
        let (whole, structured, ..) = sent(&hostile, Age::Newer);
        assert!(structured && whole <= MAX_TEXT + 1024, "{whole}");
    }

    fn of(capability: &str, result: &Value) -> Value {
        let end = ToolEnd {
            outcome: json!({ "outcome": "executed", "result": result }),
            capability: Some((capability.to_owned(), core::num::NonZeroU32::MIN)),
            diagnostic: None,
            changed: false,
        };
        serde_json::to_value(ended(&end, Age::Newer)).unwrap()
    }

    /// What a provider's tool says of its own call is said in the protocol's own places: a client goes by those.
    #[test]
    fn a_foreign_failure_is_a_failure() {
        let omitted = json!({ "kind": "omitted", "what": "image", "bytes": 12 });
        let reply =
            json!({ "content": [{ "kind": "text", "text": "no" }, omitted], "structured": null, "is_error": true });
        for through in ["mcp.call", "edge.call", "relay.call"] {
            let told = of(through, &reply);
            let left_out = "[left out: content of the kind `image`, 12 bytes]";
            let content = json!([{ "type": "text", "text": "no" }, { "type": "text", "text": left_out }]);
            assert_eq!((&told["isError"], &told["content"]), (&json!(true), &content), "{told}");
            assert_eq!(told.get("structuredContent"), None, "{told}");
        }
        let reply = json!({ "content": [], "structured": { "n": 1 }, "is_error": false });
        let told = of("mcp.call", &reply);
        let text = json!([{ "type": "text", "text": "{\"n\":1}" }]);
        assert_eq!(
            (&told["isError"], &told["structuredContent"], &told["content"]),
            (&json!(false), &json!({ "n": 1 }), &text)
        );
        // What is compiled in answers as it did, whatever its result looks like.
        assert_eq!(of("lab.call", &reply)["structuredContent"], reply);
    }
}
