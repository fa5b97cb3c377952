//! What of a call is said once more in the headers of its request: the tool's name, and the arguments whose definition asks for it
//! with `x-mcp-header`. Whoever stands between reads it there, and a server refuses a call whose headers and text disagree.

use std::collections::HashSet;

use base64ct::{Base64, Encoding as _};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::peer::PeerFault;
use super::schema::{DATA, NAMED};

/// What a definition says of a property that is to be mirrored: the end of the header's name.
const ANNOTATION: &str = "x-mcp-header";
/// What every such header's name begins with.
const PREFIX: &str = "mcp-param-";
/// The header of the tool's name.
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What stands around a value that could not stand in a header as it is.
const ENCODED: (&str, &str) = ("=?base64?", "?=");
/// The types whose values are mirrored. A `number` could be written in more ways than one.
const TYPES: [&str; 4] = ["string", "integer", "boolean", "null"];

/// Whether the annotations of a schema can be followed: each names a header, no two the same one, and stands at a plain value
/// that is reached by names alone. `schema` is one that [`is_bounded`](super::schema::is_bounded).
pub fn is_sound(schema: &Value) -> bool {
    let mut names = HashSet::new();
    schema.get(ANNOTATION).is_none() && is_sound_within(schema, true, &mut names)
}

fn is_sound_within(schema: &Value, by_names: bool, names: &mut HashSet<String>) -> bool {
    match schema {
        Value::Object(object) => object.iter().all(|(key, value)| match (key.as_str(), value) {
            (ANNOTATION, name) => {
                let own = name.as_str().and_then(header).filter(|_| by_names && is_plain(schema.get("type")));
                own.is_some_and(|own| names.insert(own.as_str().to_owned()))
            }
            (key, _) if DATA.contains(&key) => true,
            (key, Value::Object(named)) if NAMED.contains(&key) => {
                named.values().all(|value| is_sound_within(value, by_names && key == "properties", names))
            }
            (_, value) => is_sound_within(value, false, names),
        }),
        Value::Array(items) => items.iter().all(|item| is_sound_within(item, false, names)),
        _ => true,
    }
}

fn header(name: &str) -> Option<HeaderName> {
    (!name.is_empty()).then(|| HeaderName::try_from(format!("{PREFIX}{name}")).ok()).flatten()
}

/// Whether a type is one whose values stand for themselves; that there may be none is no other type.
fn is_plain(of: Option<&Value>) -> bool {
    let known = |one: &Value| one.as_str().is_some_and(|one| TYPES.contains(&one));
    match of {
        Some(Value::Array(types)) => types.iter().all(known) && types.iter().any(|one| one != "null"),
        Some(one) => known(one) && one != "null",
        None => false,
    }
}

/// The headers of a call of this tool, with the arguments that its schema has mirrored where that is asked for.
///
/// # Errors
/// [`PeerFault::Malformed`] when the arguments are no JSON or the name is none.
pub fn of_call(tool: &str, schema: Option<&Value>, arguments: &str) -> Result<HeaderMap, PeerFault> {
    let mut headers = HeaderMap::new();
    headers.insert(NAME, encoded(tool)?);
    if let Some(schema) = schema {
        let arguments: Value = serde_json::from_str(arguments).map_err(|_| PeerFault::Malformed)?;
        mirror(schema, &arguments, &mut headers)?;
    }
    Ok(headers)
}

fn mirror(schema: &Value, arguments: &Value, headers: &mut HeaderMap) -> Result<(), PeerFault> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let Some(value) = arguments.get(name) else { continue };
        if let (Some(header), Some(text)) =
            (schema.get(ANNOTATION).and_then(Value::as_str).and_then(header), written(value))
        {
            let mut value = encoded(&text)?;
            // It is an argument: nothing that writes headers out writes it.
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        mirror(schema, value, headers)?;
    }
    Ok(())
}

/// A value as a header has it; none for what there is none of.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text as a header can carry it: as it is, where nothing of it would be lost or read as something else on the way.
fn encoded(text: &str) -> Result<HeaderValue, PeerFault> {
    let is_visible = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let (begin, end) = ENCODED;
    let looks_encoded = text.starts_with(begin) && text.ends_with(end);
    let text = if is_visible && !looks_encoded && text.trim_ascii() == text {
        HeaderValue::try_from(text)
    } else {
        HeaderValue::try_from(format!("{begin}{}{end}", Base64::encode_string(text.as_bytes())))
    };
    text.map_err(|_| PeerFault::Malformed)
}

#[cfg(test)]
mod tests {
    use super::{Base64, ENCODED, encoded, is_sound, of_call};
    use base64ct::Encoding as _;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn asks(property: &Value) -> Value {
        json!({"type": "object", "properties": {"a": property}})
    }

    #[test]
    fn an_annotation_names_one_header_of_one_plain_value_or_the_tool_is_not_taken() {
        for property in [
            json!({"type": "string", "x-mcp-header": "Region"}),
            json!({"type": ["integer", "null"], "x-mcp-header": "X.y_z~1"}),
            json!({"type": "object", "properties": {"x-mcp-header": {"type": "number"}}}),
            json!({"type": "object", "properties": {"b": {"type": "boolean", "x-mcp-header": "Deep"}}}),
            json!({"type": "object", "default": {"x-mcp-header": ""}, "const": {"x-mcp-header": 1}}),
        ] {
            assert!(is_sound(&asks(&property)), "{property}");
        }
        for property in [
            json!({"type": "string", "x-mcp-header": ""}),
            json!({"type": "string", "x-mcp-header": 1}),
            json!({"type": "string", "x-mcp-header": "My Region"}),
            json!({"type": "string", "x-mcp-header": "Region:Primary"}),
            json!({"type": "string", "x-mcp-header": "R\u{e9}gion"}),
            json!({"type": "string", "x-mcp-header": "Region\t1"}),
            json!({"type": "string", "x-mcp-header": "Region\r\nHost"}),
            json!({"type": "number", "x-mcp-header": "N"}),
            json!({"type": "null", "x-mcp-header": "N"}),
            json!({"type": ["null"], "x-mcp-header": "N"}),
            json!({"type": ["string", "array"], "x-mcp-header": "N"}),
            json!({"type": "object", "x-mcp-header": "N"}),
            json!({"x-mcp-header": "N"}),
            // Where it cannot be told which value is meant, or whether there is one.
            json!({"type": "array", "items": {"type": "string", "x-mcp-header": "N"}}),
            json!({"anyOf": [{"type": "string", "x-mcp-header": "N"}]}),
            json!({"items": {"properties": {"b": {"type": "string", "x-mcp-header": "N"}}}}),
            json!({"type": "object", "properties": {"b": {"type": "string", "x-mcp-header": "N"},
                "c": {"type": "string", "x-mcp-header": "n"}}}),
        ] {
            assert!(!is_sound(&asks(&property)), "{property}");
        }
        assert!(!is_sound(&json!({"type": "object", "x-mcp-header": "Root"})));
        assert!(!is_sound(&json!({"type": "object", "$defs": {"d": {"type": "string", "x-mcp-header": "N"}}})));
    }

    #[test]
    fn what_is_asked_for_is_mirrored_and_nothing_else() {
        let plain = |name: &str, of: &str| json!({"type": of, "x-mcp-header": name});
        let schema = json!({"type": "object", "properties": {
            "region": plain("Region", "string"), "n": plain("N", "integer"), "yes": plain("Yes", "boolean"),
            "none": plain("None", "string"), "absent": plain("Absent", "string"), "method": plain("Method", "string"),
            "in": {"type": "object", "properties": {"deep": plain("Deep", "integer")}}, "query": {"type": "string"},
        }});
        let arguments = r#"{"in":{"deep":-7},"method":"m","n":9007199254740993,"none":null,"query":"q","region":"us-west1","yes":false}"#;
        let headers = of_call("alpha", Some(&schema), arguments).unwrap();
        let pair = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
            (name.as_str().to_owned(), value.to_str().unwrap().to_owned())
        };
        let mut pairs: Vec<_> = headers.iter().map(pair).collect();
        pairs.sort();
        let expected = [
            ("mcp-name", "alpha"),
            ("mcp-param-deep", "-7"),
            ("mcp-param-method", "m"),
            ("mcp-param-n", "9007199254740993"),
            ("mcp-param-region", "us-west1"),
            ("mcp-param-yes", "false"),
        ];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(of_call("alpha", None, arguments).unwrap().len(), 1);
    }

    #[test]
    fn what_a_header_cannot_carry_is_encoded() {
        for (text, header) in [
            ("", ""),
            ("us west 1", "us west 1"),
            ("Hello, \u{4e16}\u{754c}", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(text).unwrap().to_str().unwrap(), header, "{text:?}");
        }
    }

    proptest! {
        /// Whoever reads the header has the very text, and no text is two headers or another one.
        #[test]
        fn every_text_is_read_as_what_it_was(text in any::<String>()) {
            let header = encoded(&text).unwrap();
            let header = header.to_str().unwrap();
            let inner = header.strip_prefix(ENCODED.0).and_then(|rest| rest.strip_suffix(ENCODED.1));
            let read = inner.map_or_else(|| header.to_owned(), |inner| {
                String::from_utf8(Base64::decode_vec(inner).unwrap()).unwrap()
            });
            prop_assert_eq!(read, text);
        }
    }
}
