//! Why a type's schema cannot be a contract.

use core::fmt;

use super::Document;

/// A schema that cannot be exported or enforced: the rule it breaks, the place as a JSON pointer, and what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    document: Option<Document>,
    pointer: String,
    rule: &'static str,
    detail: Option<String>,
    help: &'static str,
}

impl SchemaFault {
    pub(crate) fn new(pointer: impl Into<String>, rule: &'static str, help: &'static str) -> Self {
        Self { document: None, pointer: pointer.into(), rule, detail: None, help }
    }

    /// The place accepts every value.
    pub(super) fn anything(pointer: &str) -> Self {
        Self::new(
            pointer,
            "every place of a schema says what it accepts; this one accepts anything",
            "use a type with fields, a map with typed values, or `#[schemars(with = \"..\")]`; where any JSON is really \
             meant, list all six under `type`",
        )
    }

    /// Adds what was found there.
    pub(crate) fn saying(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn of(mut self, document: Document) -> Self {
        self.document = Some(document);
        self
    }

    /// The place, as a JSON pointer into the generated document; empty for its root.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The rule it breaks.
    #[must_use]
    pub fn rule(&self) -> &str {
        self.rule
    }

    /// What to change.
    #[must_use]
    pub fn help(&self) -> &str {
        self.help
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = match self.document {
            Some(Document::Arguments) => "the argument schema",
            Some(Document::Result) => "the result schema",
            None => "the schema",
        };
        let place = if self.pointer.is_empty() { "its root" } else { self.pointer.as_str() };
        write!(f, "{document} at `{place}`: {}", self.rule)?;
        if let Some(detail) = &self.detail {
            write!(f, ": {detail}")?;
        }
        write!(f, "\nhelp: {}", self.help)
    }
}

impl core::error::Error for SchemaFault {}
