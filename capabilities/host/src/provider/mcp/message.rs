//! JSON-RPC messages, read strictly and written by hand.
//!
//! What is sent holds argument text byte for byte as it was judged, so messages are put together as text.

use core::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The longest message that is read, in bytes: a page of definitions of which one is far too large is still read, so that
/// the others can be used.
pub const MAX_MESSAGE: usize = 16 << 20;

/// How deep a message may be nested.
const MAX_DEPTH: usize = 96;

/// What a server says.
#[derive(Debug)]
pub enum Incoming {
    /// An answer to the request of that number.
    Answer(u64, Result<Value, Refusal>),
    /// A request of its own.
    Request {
        /// Its number, as JSON text: it is given back as it came.
        id: String,
        /// What it asks.
        method: String,
    },
    /// A notification.
    Notice(String),
    /// A whole message that answers nothing and asks nothing, or is none.
    Stray,
}

/// An error answer: its number alone. Its words are the server's, and may hold whatever it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The JSON-RPC error code.
    pub code: i64,
}

impl Refusal {
    /// The method is unknown: a server of an older revision.
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// The revision is not spoken.
    pub const UNSUPPORTED_VERSION: i64 = -32_022;
}

/// Reads one message.
///
/// # Errors
/// When it is no JSON object of one meaning: duplicate keys and deep nesting are refused like broken text.
pub fn read(text: &[u8]) -> Result<Incoming, Malformed> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = Strict(0).deserialize(&mut json).and_then(|value| json.end().map(|()| value)).map_err(|_| Malformed)?;
    let Value::Object(mut message) = value else { return Err(Malformed) };
    let id = message.remove("id").filter(|id| !id.is_null());
    let method = match message.remove("method") {
        Some(Value::String(method)) => Some(method),
        Some(_) => return Err(Malformed),
        None => None,
    };
    Ok(match (id, method) {
        (Some(id), Some(method)) => match id {
            Value::String(_) | Value::Number(_) => Incoming::Request { id: id.to_string(), method },
            _ => return Err(Malformed),
        },
        (None, Some(method)) => Incoming::Notice(method),
        (id, None) => match (message.remove("result"), message.remove("error")) {
            (Some(result), None) => number(id.as_ref()).map_or(Incoming::Stray, |id| Incoming::Answer(id, Ok(result))),
            (None, Some(error)) => {
                let refusal = Refusal { code: error.get("code").and_then(Value::as_i64).unwrap_or_default() };
                number(id.as_ref()).map_or(Incoming::Stray, |id| Incoming::Answer(id, Err(refusal)))
            }
            _ => Incoming::Stray,
        },
    })
}

fn number(id: Option<&Value>) -> Option<u64> {
    id.and_then(Value::as_u64)
}

/// A message that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// A request of ours as one line, without its end. `params` is the text of a JSON object.
pub fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// A notification of ours.
pub fn notice(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// Our answer to a request of the server's: an empty result, or that we have no such method.
pub fn answer(id: &str, is_known: bool) -> String {
    let mut text = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
    // Writing to a string does not fail.
    let _ = match is_known {
        true => write!(text, r#""result":{{}}}}"#),
        false => write!(text, r#""error":{{"code":-32601,"message":"this client does not offer that"}}}}"#),
    };
    text
}

/// A JSON value of one meaning: no key twice, no deep nesting.
struct Strict(usize);

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Strict {
    fn inside<E: serde::de::Error>(&self) -> Result<usize, E> {
        if self.0 < MAX_DEPTH { Ok(self.0 + 1) } else { Err(E::custom("too deep")) }
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let depth = self.inside()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Strict(depth))? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let depth = self.inside()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Strict(depth))?;
            if object.insert(key, value).is_some() {
                return Err(serde::de::Error::custom("a key twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::{Incoming, Malformed, answer, notice, read, request};
    use proptest::prelude::*;

    #[test]
    fn a_message_is_one_of_four_things_or_none() {
        let kind = |text: &str| match read(text.as_bytes()) {
            Ok(Incoming::Answer(id, Ok(_))) => format!("answer {id}"),
            Ok(Incoming::Answer(id, Err(refusal))) => format!("refusal {id} {}", refusal.code),
            Ok(Incoming::Request { id, method }) => format!("request {id} {method}"),
            Ok(Incoming::Notice(method)) => format!("notice {method}"),
            Ok(Incoming::Stray) => "stray".to_owned(),
            Err(Malformed) => "malformed".to_owned(),
        };
        for (text, said) in [
            (r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, "answer 3"),
            (r#"{"id":3,"error":{"code":-32601,"message":"no"}}"#, "refusal 3 -32601"),
            (r#"{"id":3,"error":"no"}"#, "refusal 3 0"),
            (r#"{"id":"x","method":"ping"}"#, "request \"x\" ping"),
            (r#"{"id":7,"method":"ping","result":1}"#, "request 7 ping"),
            (r#"{"method":"notifications/tools/list_changed"}"#, "notice notifications/tools/list_changed"),
            (r#"{"id":null,"method":"m"}"#, "notice m"),
            (r#"{"id":3,"result":{},"error":{}}"#, "stray"),
            (r#"{"id":"3","result":{}}"#, "stray"),
            (r#"{"id":-3,"result":{}}"#, "stray"),
            (r#"{"result":{}}"#, "stray"),
            (r#"{"id":3}"#, "stray"),
            (r#"{"id":3,"id":4,"result":{}}"#, "malformed"),
            (r#"{"id":3,"result":{"a":1,"a":2}}"#, "malformed"),
            (r#"{"id":{},"method":"m"}"#, "malformed"),
            (r#"{"id":3,"method":4}"#, "malformed"),
            (r#"[{"id":3,"result":{}}]"#, "malformed"),
            (r#"{"id":3,"result":{}} {}"#, "malformed"),
            ("Welcome to server 1.0!", "malformed"),
            ("", "malformed"),
        ] {
            assert_eq!(kind(text), said, "{text}");
        }
        let nested = |depth| format!("{{\"id\":1,\"result\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(kind(&nested(90)), "answer 1");
        assert_eq!(kind(&nested(100)), "malformed");
        assert_eq!(kind(&nested(100_000)), "malformed");
    }

    #[test]
    fn what_is_sent_is_one_line_of_json_with_the_very_text() {
        let params = r#"{"arguments":{"n":1e2,"s":"\u00e9"},"name":"t"}"#;
        assert!(request(1, "tools/call", params).contains(params));
        for text in [request(1, "m", params), notice("m", "{}"), answer("\"x\"", true), answer("7", false)] {
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok() && !text.contains('\n'), "{text}");
        }
    }

    proptest! {
        /// Whatever a server writes is read or refused, and nothing it writes ends the host.
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
        }

        #[test]
        fn anything_like_a_message_is_read_or_refused(text in r#"(\{|\}|\[|\]|"id"|"method"|"result"|"error"|:|,|1|-1|null|"a"|\\|"){0,40}"#) {
            let _ = read(text.as_bytes());
        }
    }
}
