//! From what a tool answers to what a capability is given.

use std::borrow::Cow;

use capability_core::handle::{BrokerFault, OmittedContent, ToolContent, ToolReply};
use capability_core::redact::Redactor;
use serde_json::Value;

use super::peer::PeerFault;

/// The most bytes of text and data in one answer.
pub const MAX_REPLY: usize = 1 << 20;
/// The most pieces.
const MAX_PIECES: usize = 1000;

/// Reads the answer to a call.
///
/// # Errors
/// [`BrokerFault::ReplyTooLarge`], [`BrokerFault::MalformedReply`], [`BrokerFault::Unavailable`].
pub fn of_call(answer: Result<Value, PeerFault>, given: &Redactor) -> Result<ToolReply, BrokerFault> {
    let answer = match answer {
        Ok(answer) => answer,
        // Its words may hold anything, so only its number is told.
        Err(PeerFault::Refused(code)) => return Ok(ours(format!("the server refused the call with code {code}"))),
        Err(PeerFault::TooLarge) => return Err(BrokerFault::ReplyTooLarge),
        Err(PeerFault::Malformed | PeerFault::Revision) => return Err(BrokerFault::MalformedReply),
        Err(PeerFault::Credential) => return Err(BrokerFault::CredentialRefused),
        Err(PeerFault::Untrusted) => return Err(BrokerFault::Untrusted),
        Err(PeerFault::Closed | PeerFault::Session) => return Err(BrokerFault::Unavailable),
    };
    if answer.get("resultType").and_then(Value::as_str).is_some_and(|kind| kind != "complete") {
        return Ok(ours("the server wants something in return that this host does not give".to_owned()));
    }
    let empty = Vec::new();
    let pieces = match answer.get("content") {
        None => &empty,
        Some(Value::Array(pieces)) => pieces,
        Some(_) => return Err(BrokerFault::MalformedReply),
    };
    let structured = answer.get("structuredContent").filter(|data| !data.is_null());
    let text_bytes = |piece: &Value| piece.get("text").and_then(Value::as_str).map_or(0, str::len);
    let bytes = pieces.iter().map(text_bytes).sum::<usize>() + structured.map_or(0, |data| data.to_string().len());
    if bytes > MAX_REPLY || pieces.len() > MAX_PIECES {
        return Err(BrokerFault::ReplyTooLarge);
    }
    let mut content = pieces.iter().map(content).collect::<Option<Vec<_>>>().ok_or(BrokerFault::MalformedReply)?;
    without(&mut content, given);
    Ok(ToolReply {
        content,
        structured: structured.cloned().map(|data| given.value(data)),
        is_error: answer.get("isError").and_then(Value::as_bool).unwrap_or_default(),
    })
}

/// An answer in words of ours, as an error.
fn ours(text: String) -> ToolReply {
    ToolReply { content: vec![ToolContent::Text { text }], structured: None, is_error: true }
}

/// The texts of an answer are shown one behind the other, so they are looked through as one.
fn without(content: &mut [ToolContent], given: &Redactor) {
    let texts = content.iter_mut().filter_map(|piece| match piece {
        ToolContent::Text { text } => Some(text),
        ToolContent::Omitted { .. } => None,
    });
    let texts: Vec<&mut String> = texts.collect();
    let told: Vec<String> = given.texts(&texts).into_iter().map(Cow::into_owned).collect();
    texts.into_iter().zip(told).for_each(|(text, told)| *text = told);
}

fn content(piece: &Value) -> Option<ToolContent> {
    let bytes = |key: &str| piece.get(key).and_then(Value::as_str).map_or(0, |data| data.len() as u64);
    let omitted = |what, bytes| ToolContent::Omitted { what, bytes };
    Some(match piece.get("type").and_then(Value::as_str)? {
        "text" => ToolContent::Text { text: piece.get("text")?.as_str()?.to_owned() },
        "image" => omitted(OmittedContent::Image, bytes("data")),
        "audio" => omitted(OmittedContent::Audio, bytes("data")),
        "resource" | "resource_link" => omitted(OmittedContent::Resource, piece.to_string().len() as u64),
        _ => omitted(OmittedContent::Other, piece.to_string().len() as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_REPLY, of_call};
    use crate::provider::mcp::PeerFault;
    use capability_core::handle::{BrokerFault, OmittedContent, ToolContent};
    use capability_core::redact::{MARK, Redactor};
    use serde_json::json;

    fn nothing() -> Redactor {
        Redactor::new([])
    }

    #[test]
    fn text_is_passed_on_and_the_rest_is_told() {
        let answer = json!({"content": [
            {"type": "text", "text": "t"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///x", "name": "x"}, {"type": "hologram"},
        ], "structuredContent": [1], "isError": true, "unknown": {}});
        let reply = of_call(Ok(answer), &nothing()).unwrap();
        assert!(reply.is_error && reply.structured == Some(json!([1])));
        let kinds = reply.content.iter().map(|piece| match piece {
            ToolContent::Text { text } => text.as_str(),
            ToolContent::Omitted { what: OmittedContent::Image, bytes: 4 } => "image",
            ToolContent::Omitted { what: OmittedContent::Resource, .. } => "resource",
            ToolContent::Omitted { what: OmittedContent::Other, .. } => "other",
            ToolContent::Omitted { .. } => "?",
        });
        assert_eq!(kinds.collect::<Vec<_>>(), ["t", "image", "resource", "other"]);
    }

    #[test]
    fn what_is_no_answer_is_a_fault() {
        for (answer, fault) in [
            (Ok(json!({"content": "t"})), BrokerFault::MalformedReply),
            (Ok(json!({"content": [{"text": "t"}]})), BrokerFault::MalformedReply),
            (Ok(json!({"content": [{"type": "text"}]})), BrokerFault::MalformedReply),
            (Ok(json!({"content": [{"type": "text", "text": "x".repeat(MAX_REPLY + 1)}]})), BrokerFault::ReplyTooLarge),
            (Ok(json!({"structuredContent": "x".repeat(MAX_REPLY)})), BrokerFault::ReplyTooLarge),
            (Ok(json!({"content": vec![json!({"type": "x"}); 1001]})), BrokerFault::ReplyTooLarge),
            (Err(PeerFault::Closed), BrokerFault::Unavailable),
        ] {
            assert_eq!(of_call(answer, &nothing()).unwrap_err(), fault);
        }
        for answer in
            [Err(PeerFault::Refused(-32602)), Ok(json!({"resultType": "input_required", "inputRequests": {}}))]
        {
            let reply = of_call(answer, &nothing()).unwrap();
            assert!(reply.is_error && reply.content.len() == 1);
        }
    }

    /// In whatever form, as a value and as a key.
    #[test]
    fn what_a_server_was_given_it_tells_nobody() {
        let given = Redactor::new(["hunter2/secret", "hunter2/secret/long"]);
        let piece = |text: &str| json!({"type": "text", "text": text});
        let said =
            ["failed: hunter2/secret/long, hunter2/secret", "X_API_KEY=hunter2%2Fsecret", "aHVudGVyMi9zZWNyZXQ="];
        let structured = json!({"hunter2/secret": ["Bearer hunter2/secret", 4]});
        let answer = json!({"content": said.map(piece), "structuredContent": structured});
        let reply = of_call(Ok(answer), &given).unwrap();
        let text = |piece: &ToolContent| match piece {
            ToolContent::Text { text } => text.clone(),
            ToolContent::Omitted { .. } => String::new(),
        };
        let expected = [format!("failed: {MARK}, {MARK}"), format!("X_API_KEY={MARK}"), MARK.to_owned()];
        assert_eq!(reply.content.iter().map(text).collect::<Vec<_>>(), expected);
        assert_eq!(reply.structured, Some(json!({MARK: [format!("Bearer {MARK}"), 4]})));
        // In two pieces, with what is no text between them.
        let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        let answer = json!({"content": [piece("key: hunter2/"), image, piece("secret.")],
            "structuredContent": {"lines": ["hunter2", "/secret"]}});
        let reply = of_call(Ok(answer), &given).unwrap();
        let told: Vec<_> = reply.content.iter().map(text).collect();
        assert_eq!(told, [format!("key: {MARK}"), String::new(), format!("{MARK}.")]);
        assert_eq!(reply.structured, Some(json!({"lines": [MARK, MARK]})));
    }
}
