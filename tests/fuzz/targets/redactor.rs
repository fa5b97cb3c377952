//! The redactor: however a text is cut, the same comes out, and no value is in it.
#![no_main]

use std::sync::Arc;

use capability_core::redact::{Redactor, is_redactable};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (String, String, Vec<u8>, Vec<u8>)| {
    let (one, other, text, cuts) = input;
    let values = [one.as_str(), other.as_str()];
    let redactor = Arc::new(Redactor::new(values));
    assert!(!redactor.is_broken());
    let whole = {
        let (mut stream, mut out) = (redactor.stream(), Vec::new());
        stream.push(&text, &mut out);
        stream.finish(&mut out);
        out
    };
    let (mut stream, mut out, mut rest) = (redactor.stream(), Vec::new(), text.as_slice());
    for cut in cuts {
        let (piece, after) = rest.split_at(usize::from(cut).min(rest.len()));
        stream.push(piece, &mut out);
        rest = after;
    }
    stream.push(rest, &mut out);
    stream.finish(&mut out);
    assert_eq!(out, whole);
    if let Ok(text) = core::str::from_utf8(&text) {
        assert_eq!(redactor.text(text).as_bytes(), whole);
        let document = serde_json::json!({ text: [text] }).to_string();
        let told: serde_json::Value = serde_json::from_str(&redactor.json(&document)).expect("it stays JSON");
        // In none of its texts; what stands between them is the form of the document, and nobody's secret.
        for value in values.into_iter().filter(|value| is_redactable(value) && !value.contains(['\r', '\n'])) {
            assert!(!redactor.text(text).contains(value) && !holds(&told, value));
        }
    }
});

fn holds(told: &serde_json::Value, value: &str) -> bool {
    match told {
        serde_json::Value::String(text) => text.contains(value),
        serde_json::Value::Array(items) => items.iter().any(|item| holds(item, value)),
        serde_json::Value::Object(fields) => {
            fields.iter().any(|(name, field)| name.contains(value) || holds(field, value))
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => false,
    }
}
