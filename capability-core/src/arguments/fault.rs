//! Refusals: what the caller is told, and what may be recorded.

use core::fmt;

/// Why arguments are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgumentCode {
    /// The text, or what it would unfold to in memory, is above its cap.
    TooLarge,
    /// The text is no JSON, or holds a number that JSON numbers here do not carry.
    Malformed,
    /// An object names one key twice.
    DuplicateKey,
    /// Objects and lists nest too deep.
    TooDeep,
    /// A string or key holds a NUL character.
    ControlCharacter,
    /// The arguments are not an object.
    NotAnObject,
    /// The schema refuses them.
    Schema,
}

impl ArgumentCode {
    /// The word used in outcomes and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::DuplicateKey => "duplicate_key",
            Self::TooDeep => "too_deep",
            Self::ControlCharacter => "control_character",
            Self::NotAnObject => "not_an_object",
            Self::Schema => "schema",
        }
    }
}

/// Arguments that are not taken, with the place, the rule, and what would be right.
///
/// `message` and `help` are for the caller and may quote what it sent. Only `code`, `keyword` and `schema_path` may be
/// recorded: they come from this program and from the schema, never from the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentFault {
    /// The kind of refusal.
    pub code: ArgumentCode,
    /// The place in the arguments and the rule; a line for each of several.
    pub message: String,
    /// What to send instead.
    pub help: String,
    /// The schema keyword that refuses, for [`ArgumentCode::Schema`].
    pub keyword: Option<&'static str>,
    /// That keyword's place in the schema, as a JSON pointer.
    pub schema_path: Option<String>,
}

impl ArgumentFault {
    pub(super) fn new(code: ArgumentCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into(), keyword: None, schema_path: None }
    }
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.help.is_empty() {
            write!(f, "\nhelp: {}", self.help)?;
        }
        Ok(())
    }
}

impl core::error::Error for ArgumentFault {}

/// A result that does not keep the capability's contract. It says nothing of the result itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultFault {
    /// The schema keyword that refuses; none when the result is no JSON at all.
    pub keyword: Option<&'static str>,
    /// That keyword's place in the schema, as a JSON pointer.
    pub schema_path: Option<String>,
}

impl ResultFault {
    pub(super) const fn unreadable() -> Self {
        Self { keyword: None, schema_path: None }
    }
}

impl fmt::Display for ResultFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.schema_path, self.keyword) {
            (Some(path), _) => write!(f, "the result breaks its own schema at `{path}`"),
            (None, _) => f.write_str("the result is not JSON"),
        }
    }
}

impl core::error::Error for ResultFault {}
