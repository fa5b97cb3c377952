//! One text for each JSON value: keys sorted bytewise, no white space, integers exact.

use std::io::Write as _;
use std::sync::LazyLock;

use serde_json::{Map, Number, Value};

/// The canonical text of `value`.
pub(crate) fn text(value: &Value) -> Vec<u8> {
    let mut text = Vec::with_capacity(256);
    put(&mut text, value);
    text
}

/// The canonical text of an object, into a buffer of about the right size.
pub(crate) fn object(properties: &Map<String, Value>, expected: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(expected.max(32));
    put_object(&mut text, properties);
    text
}

/// The same value with the keys of every object inserted in canonical order, so that any writer writes them so.
pub(crate) fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        Value::Object(object) => {
            let mut entries: Vec<(String, Value)> =
                object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
            Value::Object(entries.into_iter().collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

/// Whether maps hold their keys in bytewise order by themselves. A crate far away can change that by a feature.
static MAPS_ARE_SORTED: LazyLock<bool> = LazyLock::new(|| {
    let probe: Map<String, Value> = ["b", "a"].map(|key| (key.to_owned(), Value::Null)).into_iter().collect();
    probe.keys().is_sorted()
});

fn put(text: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => text.extend_from_slice(b"null"),
        Value::Bool(true) => text.extend_from_slice(b"true"),
        Value::Bool(false) => text.extend_from_slice(b"false"),
        Value::Number(number) => put_number(text, number),
        Value::String(string) => put_string(text, string),
        Value::Array(items) => {
            text.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                put(text, item);
            }
            text.push(b']');
        }
        Value::Object(object) => put_object(text, object),
    }
}

fn put_object(text: &mut Vec<u8>, object: &Map<String, Value>) {
    text.push(b'{');
    if *MAPS_ARE_SORTED {
        put_entries(text, object.iter());
    } else {
        let mut entries: Vec<(&String, &Value)> = object.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        put_entries(text, entries.into_iter());
    }
    text.push(b'}');
}

fn put_entries<'v>(text: &mut Vec<u8>, entries: impl Iterator<Item = (&'v String, &'v Value)>) {
    for (index, (key, value)) in entries.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        put_string(text, key);
        text.push(b':');
        put(text, value);
    }
}

fn put_number(text: &mut Vec<u8>, number: &Number) {
    match (number.as_u64(), number.as_i64()) {
        (Some(natural), _) => put_digits(text, natural),
        (None, Some(negative)) => {
            text.push(b'-');
            put_digits(text, negative.unsigned_abs());
        }
        (None, None) => put_double(text, number),
    }
}

/// The shortest text that reads back as the same double.
pub(super) fn put_double(text: &mut Vec<u8>, number: &Number) {
    // A vector takes whatever it is given.
    let _ = write!(text, "{number}");
}

pub(super) fn put_digits(text: &mut Vec<u8>, mut natural: u64) {
    let mut digits = [0; 20];
    let mut unused = digits.len();
    for digit in digits.iter_mut().rev() {
        // A remainder of ten fits.
        *digit = b'0' + (natural % 10) as u8;
        natural /= 10;
        unused -= 1;
        if natural == 0 {
            break;
        }
    }
    text.extend_from_slice(digits.get(unused..).unwrap_or_default());
}

pub(super) fn put_string(text: &mut Vec<u8>, string: &str) {
    text.push(b'"');
    let mut plain = string.as_bytes();
    let escapes = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    // Without an early exit this is done many bytes at a time, and most texts hold nothing to escape.
    let any = plain.iter().fold(false, |any, byte| any | escapes(byte));
    while let Some(at) = any.then(|| plain.iter().position(escapes)).flatten() {
        let (before, rest) = plain.split_at(at);
        text.extend_from_slice(before);
        let Some((byte, after)) = rest.split_first() else { break };
        match byte {
            b'"' => text.extend_from_slice(b"\\\""),
            b'\\' => text.extend_from_slice(b"\\\\"),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\t' => text.extend_from_slice(b"\\t"),
            0x08 => text.extend_from_slice(b"\\b"),
            0x0c => text.extend_from_slice(b"\\f"),
            control => text.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
        plain = after;
    }
    text.extend_from_slice(plain);
    text.push(b'"');
}
