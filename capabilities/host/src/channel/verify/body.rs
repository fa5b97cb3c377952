//! Bodies: text, JSON and forms, each read in one way.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::{Headers, Refused};

/// The longest id that a platform gives anything, in bytes.
const MAX_ID: usize = 255;

/// The body as text, exactly as it came.
pub(super) fn text(body: &[u8]) -> Result<&str, Refused> {
    match core::str::from_utf8(body) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(Refused::malformed("the body is no text")),
    }
}

/// A JSON document. A property that stands there twice and is read here is refused.
pub(super) fn json<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|_| Refused::malformed("the body is no such JSON document"))
}

/// A form as browsers send it.
pub(super) struct Form<'a>(BTreeMap<Cow<'a, str>, Cow<'a, str>>);

impl<'a> Form<'a> {
    /// Reads one; a field that stands there twice, or that is no UTF-8, is refused.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Refused> {
        let wrong = |detail| Err(Refused::malformed(detail));
        let mut fields = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(body) {
            if name.contains('\u{fffd}') || value.contains('\u{fffd}') {
                return wrong("a field of the form is no text");
            }
            if fields.insert(name, value).is_some() {
                return wrong("a field of the form stands there twice");
            }
        }
        Ok(Self(fields))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Cow::as_ref)
    }

    pub(super) fn one(&self, name: &str) -> Result<&str, Refused> {
        self.get(name).ok_or(Refused::malformed("a field of the form is missing"))
    }
}

/// What kind of body there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Json,
    Form,
}

impl Shape {
    pub(super) fn of(headers: Headers<'_>) -> Result<Self, Refused> {
        match headers.content_type()?.as_deref() {
            Some("application/json") => Ok(Self::Json),
            Some("application/x-www-form-urlencoded") => Ok(Self::Form),
            _ => Err(Refused::malformed("the body is neither JSON nor a form")),
        }
    }
}

/// An id that a platform gave something: short, printable, and not empty.
pub(super) fn id(text: &str) -> Result<&str, Refused> {
    let plain = (1..=MAX_ID).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'!'..=b'~'));
    if plain { Ok(text) } else { Err(Refused::malformed("an id is no plain text")) }
}
