//! The arguments of a call, taken out of a message byte for byte.
//!
//! What a general reader makes of them is not what was sent: of one key twice it keeps the last, a large number becomes a
//! near one, and what is nested too deeply makes it give up on the whole message. So they are lifted out as text before it
//! looks, and go to the executor as they came, which refuses what is wrong in words that a model can read.

use std::borrow::Cow;

use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcError, RequestId};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// The arguments of a call as they came; what stands for none is `{}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments(pub String);

/// A message, and what was lifted out of it.
pub struct Lifted {
    /// The message without the arguments.
    pub message: Vec<u8>,
    /// The arguments, where it is a call.
    pub arguments: Option<Arguments>,
}

/// What is said of a request whose id another one has that waits for its answer.
pub const TAKEN: &str = "the id is that of a request that is under way";

/// The protocol's name of a call.
const CALL: &str = "tools/call";

/// Methods whose answer comes page by page.
const LISTS: [&str; 4] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// What a request of a list has that the library takes for nothing where it is something else.
#[derive(Deserialize)]
struct Page<'m> {
    #[serde(borrow, default, rename = "cursor")]
    _cursor: Option<Cow<'m, str>>,
}

/// What every message has, as text.
#[derive(Deserialize)]
struct Envelope<'m> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'m RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'m RawValue>,
}

/// What a call has, as text.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Call<'m> {
    #[serde(rename = "_meta", borrow, default, skip_serializing_if = "Option::is_none")]
    meta: Option<&'m RawValue>,
    #[serde(borrow)]
    name: Cow<'m, str>,
    #[serde(borrow, default, deserialize_with = "present", skip_serializing)]
    arguments: Option<&'m RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    input_responses: Option<&'m RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    request_state: Option<Cow<'m, str>>,
}

#[derive(Serialize)]
struct Rest<'m> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m RawValue>,
    method: &'static str,
    params: Call<'m>,
}

/// What is there, `null` as much as anything else.
fn present<'de: 'm, 'm, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'m RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Takes the arguments out of a message.
///
/// # Errors
/// The answer to a message that cannot be read: with its id where it has one.
pub fn lift(bytes: &[u8]) -> Result<Lifted, JsonRpcError> {
    let envelope: Envelope<'_> = match serde_json::from_slice(bytes) {
        Ok(envelope) if is_object(bytes) => envelope,
        Ok(_) => return Err(refusal(None, ErrorCode::INVALID_REQUEST, "the message is no object")),
        Err(error) if error.is_data() => {
            return Err(refusal(None, ErrorCode::INVALID_REQUEST, "the message is no object with each field once"));
        }
        Err(_) => return Err(refusal(None, ErrorCode::PARSE_ERROR, "the message is no JSON")),
    };
    let is_list = envelope.method.as_deref().is_some_and(|method| LISTS.contains(&method));
    if let Some(params) = envelope.params.filter(|params| is_list && params.get() != "null")
        && !(is_object(params.get().as_bytes()) && serde_json::from_str::<Page<'_>>(params.get()).is_ok())
    {
        return Err(refusal(id(&envelope), ErrorCode::INVALID_PARAMS, "the mark of a page is a text"));
    }
    if envelope.method.as_deref() != Some(CALL) {
        return Ok(Lifted { message: bytes.to_vec(), arguments: None });
    }
    let refused = || refusal(id(&envelope), ErrorCode::INVALID_PARAMS, "a call has a `name` and fields of their types");
    let params = envelope.params.filter(|params| is_object(params.get().as_bytes())).ok_or_else(refused)?;
    let call: Call<'_> = serde_json::from_str(params.get()).map_err(|_| refused())?;
    let arguments = Arguments(call.arguments.map_or_else(|| "{}".to_owned(), |arguments| arguments.get().to_owned()));
    let rest = Rest { jsonrpc: "2.0", id: envelope.id, method: CALL, params: call };
    let message = serde_json::to_vec(&rest).map_err(|_| refused())?;
    Ok(Lifted { message, arguments: Some(arguments) })
}

/// Whether JSON text is an object's. A list of the same values in their order would be read alike.
fn is_object(json: &[u8]) -> bool {
    json.trim_ascii_start().first() == Some(&b'{')
}

/// A message without its arguments, as the library has it.
///
/// # Errors
/// The answer to a message that the library cannot read.
pub fn read(bytes: &[u8]) -> Result<ClientJsonRpcMessage, JsonRpcError> {
    serde_json::from_slice(bytes).map_err(|_| {
        let envelope: Option<Envelope<'_>> = serde_json::from_slice(bytes).ok();
        let id = envelope.as_ref().and_then(id);
        refusal(id, ErrorCode::INVALID_REQUEST, "the message is none of this protocol, or is nested too deeply")
    })
}

fn id(envelope: &Envelope<'_>) -> Option<RequestId> {
    serde_json::from_str(envelope.id?.get()).ok()
}

/// An answer in words of ours.
pub fn refusal(id: Option<RequestId>, code: ErrorCode, message: &'static str) -> JsonRpcError {
    JsonRpcError::new(id, ErrorData::new(code, message, None))
}

#[cfg(test)]
mod tests;
