//! Takes secrets out of whatever goes to somebody.
//!
//! A [`Redactor`] knows values and finds them in texts, in the forms in which programs write them. It does so for a
//! text, for every text inside a JSON document, and for bytes that come in pieces. Whatever is found is replaced by [`MARK`];
//! what overlaps or touches is replaced once.
//!
//! It guards against accidents: a program that prints its environment, an error that quotes a header. Whoever is given a value
//! and means to pass it on can write it in a form that nobody looks for.

mod finder;
mod forms;
mod json;
mod stream;

use core::panic::AssertUnwindSafe;
use std::borrow::Cow;
use std::panic::catch_unwind;
use std::sync::Arc;

use finder::Finder;
pub use stream::RedactingStream;

/// What stands in the place of a secret.
pub const MARK: &str = "[redacted]";
/// What stands in the place of everything when a redactor fails.
pub const WITHHELD: &str = "[withheld: the redactor failed]";
/// The shortest value that is looked for, in bytes without line breaks: a shorter one would be found everywhere. Such a value
/// is never bound to a command.
pub const MIN_REDACTED_BYTES: usize = 8;

/// Gives the redactor that counts now.
pub trait Redaction: Send + Sync {
    /// What knows every value that may not go out. One that could not be made is [`Redactor::broken`].
    fn redactor(&self) -> Arc<Redactor>;
}

/// Whether a value is long enough to be looked for.
#[must_use]
pub fn is_redactable(value: &str) -> bool {
    value.bytes().filter(|byte| !forms::is_break(*byte)).count() >= MIN_REDACTED_BYTES
}

/// Finds values in texts.
///
/// ```
/// use capability_core::redact::Redactor;
///
/// let redactor = Redactor::new(["hunter2-hunter2"]);
/// assert_eq!(redactor.text("token=hunter2-hunter2;"), "token=[redacted];");
/// assert_eq!(redactor.text("aHVudGVyMi1odW50ZXIy"), "[redacted]");
/// assert_eq!(redactor.json(r#"{"header":["Bearer hunter2-hunter2"]}"#), r#"{"header":["Bearer [redacted]"]}"#);
/// ```
pub struct Redactor(Found);

enum Found {
    /// No value is known that is long enough.
    Nothing,
    Values(Box<Finder>),
    /// It could not be made.
    Broken,
}

/// It could not look. What it was given goes nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

impl Redactor {
    /// One that knows these values. Those shorter than [`MIN_REDACTED_BYTES`] are passed over.
    #[must_use]
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let forms = forms::of_all(values);
        if forms.is_empty() {
            return Self(Found::Nothing);
        }
        Self(guarded(|| Finder::new(&forms)).map_or(Found::Broken, |finder| Found::Values(Box::new(finder))))
    }

    /// One that lets nothing through: everything is [`WITHHELD`].
    #[must_use]
    pub const fn broken() -> Self {
        Self(Found::Broken)
    }

    /// The text without the values. One that was cut off keeps no beginning of a value at its end when it is passed through
    /// [`stream`](Self::stream) and ended with [`RedactingStream::cut`].
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.0 {
            Found::Nothing => Cow::Borrowed(text),
            Found::Broken => Cow::Borrowed(WITHHELD),
            Found::Values(finder) => guarded(|| finder.text(text)).unwrap_or(Cow::Borrowed(WITHHELD)),
        }
    }

    /// Texts that are shown one behind the other, as one text: what stands over a seam is replaced on both sides of it. As many
    /// come back, in their order.
    ///
    /// ```
    /// # use capability_core::redact::Redactor;
    /// let redactor = Redactor::new(["hunter2-hunter2"]);
    /// assert_eq!(redactor.texts(&["token=hunter2-", "hunter2;"]), ["token=[redacted]", "[redacted];"]);
    /// ```
    #[must_use]
    pub fn texts<'t, T: AsRef<str>>(&self, texts: &'t [T]) -> Vec<Cow<'t, str>> {
        let withheld = || texts.iter().map(|_| Cow::Borrowed(WITHHELD)).collect();
        match &self.0 {
            Found::Nothing => texts.iter().map(|text| Cow::Borrowed(text.as_ref())).collect(),
            Found::Broken => withheld(),
            Found::Values(finder) => guarded(|| finder.texts(texts)).unwrap_or_else(|_| withheld()),
        }
    }

    /// A JSON document without the values: in every text, as a value and as a key, and in numbers. Texts at one place of each
    /// element of a list are looked through as one, as by [`texts`](Self::texts). It stays the same document otherwise, byte by
    /// byte. What is no JSON is looked through as a text.
    #[must_use]
    pub fn json<'t>(&self, document: &'t str) -> Cow<'t, str> {
        // The words of a failure are JSON, too.
        self.looked_through(document).unwrap_or_else(|_| Cow::Owned(json::quoted(WITHHELD)))
    }

    /// The same for whoever says in its own words that it failed.
    pub(crate) fn looked_through<'t>(&self, document: &'t str) -> Result<Cow<'t, str>, Failed> {
        match &self.0 {
            Found::Nothing => Ok(Cow::Borrowed(document)),
            Found::Broken => Err(Failed),
            Found::Values(finder) => guarded(|| json::document(finder, document)),
        }
    }

    /// The same as [`json`](Self::json) for a document that was read already.
    #[must_use]
    pub fn value(&self, mut value: serde_json::Value) -> serde_json::Value {
        let beside = match &self.0 {
            Found::Nothing => return value,
            Found::Broken => Err(Failed),
            Found::Values(finder) => guarded(|| json::beside_in(finder, &mut value)),
        };
        beside.map_or_else(|_| serde_json::Value::String(WITHHELD.to_owned()), |()| self.each(value))
    }

    /// A document with each of its texts and numbers looked through by itself.
    fn each(&self, value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) => match self.text(&text) {
                Cow::Borrowed(_) => Value::String(text),
                Cow::Owned(text) => Value::String(text),
            },
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.each(item)).collect()),
            Value::Object(object) => Value::Object(
                object.into_iter().map(|(key, value)| (self.text(&key).into(), self.each(value))).collect(),
            ),
            Value::Number(number) => match self.text(&number.to_string()) {
                Cow::Borrowed(_) => Value::Number(number),
                Cow::Owned(text) => Value::String(text),
            },
            plain @ (Value::Null | Value::Bool(_)) => plain,
        }
    }

    /// For bytes that come in pieces. However they are cut, what comes out is the same.
    #[must_use]
    pub fn stream(self: &Arc<Self>) -> RedactingStream {
        RedactingStream::of(Arc::clone(self))
    }

    /// Whether it lets nothing through.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        matches!(self.0, Found::Broken)
    }
}

impl core::fmt::Debug for Redactor {
    /// Without the values.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match &self.0 {
            Found::Nothing => "Redactor(nothing)",
            Found::Values(_) => "Redactor(..)",
            Found::Broken => "Redactor(broken)",
        })
    }
}

/// A panic in what looks is a failure to look, and ends nobody's call.
fn guarded<T>(look: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(look)).unwrap_or(Err(Failed))
}

#[cfg(test)]
mod tests;
