//! The texts inside a JSON document.

use std::borrow::Cow;

use super::finder::Finder;
use super::{Failed, MARK, MIN_REDACTED_BYTES};

/// The document with every form replaced in its texts and numbers.
pub(super) fn document<'t>(finder: &Finder, document: &'t str) -> Result<Cow<'t, str>, Failed> {
    // Without an escape each text stands there as it is: one look at all of them.
    if !document.contains('\\') && finder.spans(document.as_bytes()).found.is_empty() {
        return Ok(Cow::Borrowed(document));
    }
    let mut redacted = String::with_capacity(document.len());
    let (mut rest, mut changed) = (document, false);
    while let Some(token) = next(rest) {
        let (before, token, after) = token;
        redacted.push_str(before);
        match replaced(finder, token)? {
            Some(other) => {
                redacted.push_str(&other);
                changed = true;
            }
            None => redacted.push_str(token),
        }
        rest = after;
    }
    redacted.push_str(rest);
    Ok(if changed { Cow::Owned(redacted) } else { Cow::Borrowed(document) })
}

/// A text as a JSON document.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The next text with its quotes, or the next run of characters of a number or a word, with what is before and after.
fn next(rest: &str) -> Option<(&str, &str, &str)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
    let start = rest.find(|c: char| c == '"' || is_plain(c))?;
    let (before, from) = rest.split_at_checked(start)?;
    let length =
        if from.starts_with('"') { closed(from) } else { from.find(|c: char| !is_plain(c)).unwrap_or(from.len()) };
    let (token, after) = from.split_at_checked(length)?;
    Some((before, token, after))
}

/// Where the text that begins here ends; all there is when it has no end.
fn closed(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// What stands in the place of a token; none where it holds no form.
fn replaced(finder: &Finder, token: &str) -> Result<Option<String>, Failed> {
    if token.len() < MIN_REDACTED_BYTES {
        return Ok(None);
    }
    let Some(inner) = token.strip_prefix('"') else {
        // A number that is a secret is no number any more.
        return Ok((!finder.spans(token.as_bytes()).found.is_empty()).then(|| quoted(MARK)));
    };
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return Ok(match finder.text(inner)? {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(format!("\"{text}\"")),
        });
    }
    let Ok(meant) = serde_json::from_str::<String>(token) else {
        // It is no text of JSON: it is looked through as it stands.
        return Ok(match finder.text(token)? {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        });
    };
    Ok(match finder.text(&meant)? {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(quoted(&text)),
    })
}
