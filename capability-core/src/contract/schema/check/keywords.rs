//! The keywords of a schema, read as they must be written.

use serde_json::{Map, Value};

use super::formed::{Limit, Numbers, Texts, Types, Values};
use super::number::Divisor;
use super::text::{Form, Format};
#[cfg(not(feature = "jsonschema"))]
use crate::contract::schema::fault::SchemaFault;
use crate::contract::schema::lint::is_annotation;

/// A keyword that is not checked here, or has a value that it cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unplanned {
    /// The place of its schema, as a JSON pointer.
    at: String,
    keyword: String,
    malformed: bool,
}

impl Unplanned {
    pub(super) fn new(at: &str, keyword: &str) -> Self {
        Self { at: at.to_owned(), keyword: keyword.to_owned(), malformed: false }
    }

    pub(super) fn malformed(at: &str, keyword: &str) -> Self {
        Self { malformed: true, ..Self::new(at, keyword) }
    }

    /// The same as a fault of the document, for a build that has no other way to check it.
    #[cfg(not(feature = "jsonschema"))]
    pub(crate) fn into_fault(self) -> SchemaFault {
        let (rule, help) = if self.malformed {
            (
                "every keyword has a value that it can be enforced by",
                "write keyword values as JSON Schema 2020-12 has them, and no type that is nothing but itself",
            )
        } else {
            (
                "every keyword can be enforced, and this build enforces those that plain types are exported with",
                "enable the feature `jsonschema` of `capability-core`, which enforces all of JSON Schema 2020-12, or \
                 describe the place without it",
            )
        };
        SchemaFault::new(self.at, rule, help).saying(format!("`{}`", self.keyword))
    }
}

/// The keywords of one schema, read as they must be written.
pub(super) struct Keywords<'s, 'p> {
    pub(super) keywords: &'s Map<String, Value>,
    pub(super) at: &'p str,
}

impl<'s> Keywords<'s, '_> {
    /// True for a keyword that is checked here, or that only describes.
    pub(super) fn knows(&self, keyword: &str) -> bool {
        match keyword {
            "$ref"
            | "additionalProperties"
            | "allOf"
            | "anyOf"
            | "const"
            | "enum"
            | "exclusiveMaximum"
            | "exclusiveMinimum"
            | "format"
            | "if"
            | "items"
            | "maxItems"
            | "maxLength"
            | "maxProperties"
            | "maximum"
            | "minItems"
            | "minLength"
            | "minProperties"
            | "minimum"
            | "multipleOf"
            | "not"
            | "oneOf"
            | "pattern"
            | "patternProperties"
            | "prefixItems"
            | "properties"
            | "propertyNames"
            | "required"
            | "type"
            | "unevaluatedProperties"
            | "uniqueItems" => true,
            "then" | "else" => self.keywords.contains_key("if"),
            other => is_annotation(other),
        }
    }

    pub(super) fn says_none(&self, keywords: &[&str]) -> bool {
        !keywords.iter().any(|keyword| self.keywords.contains_key(*keyword))
    }

    pub(super) fn unknown(&self, keyword: &str) -> Unplanned {
        Unplanned::new(self.at, keyword)
    }

    pub(super) fn malformed(&self, keyword: &str) -> Unplanned {
        Unplanned::malformed(self.at, keyword)
    }

    pub(super) fn list(&self, keyword: &str) -> Result<Option<&'s [Value]>, Unplanned> {
        match self.keywords.get(keyword) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => Err(self.malformed(keyword)),
        }
    }

    pub(super) fn object(&self, keyword: &str) -> Result<Option<&'s Map<String, Value>>, Unplanned> {
        match self.keywords.get(keyword) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(self.malformed(keyword)),
        }
    }

    pub(super) fn text(&self, keyword: &str) -> Result<Option<&'s str>, Unplanned> {
        match self.keywords.get(keyword) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.malformed(keyword)),
        }
    }

    /// A number of things.
    pub(super) fn count(&self, keyword: &str) -> Result<Option<u64>, Unplanned> {
        let Some(count) = self.keywords.get(keyword) else { return Ok(None) };
        count.as_u64().map(Some).ok_or_else(|| self.malformed(keyword))
    }

    pub(super) fn limit(&self, keyword: &str) -> Result<Option<Limit>, Unplanned> {
        let Some(limit) = self.keywords.get(keyword) else { return Ok(None) };
        limit.as_number().and_then(Limit::of).map(Some).ok_or_else(|| self.malformed(keyword))
    }

    pub(super) fn types(&self) -> Result<Types, Unplanned> {
        let named = |name: &Value| name.as_str().and_then(Types::named).ok_or_else(|| self.malformed("type"));
        match self.keywords.get("type") {
            None => Ok(Types::ALL),
            Some(Value::Array(names)) if !names.is_empty() => {
                names.iter().try_fold(Types::NONE, |types, name| Ok(types.with(named(name)?)))
            }
            Some(name) => named(name),
        }
    }

    pub(super) fn values(&self) -> Result<Option<Box<Values>>, Unplanned> {
        self.list("enum")?;
        let (constant, options) = (self.keywords.get("const").cloned(), self.keywords.get("enum").cloned());
        let said = constant.is_some() || options.is_some();
        Ok(said.then(|| Box::new(Values { constant, options })))
    }

    pub(super) fn numbers(&self) -> Result<Option<Box<Numbers>>, Unplanned> {
        if self.says_none(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            return Ok(None);
        }
        let divisor = match self.keywords.get("multipleOf") {
            None => None,
            Some(divisor) => {
                let divisor = divisor.as_number().and_then(Divisor::of);
                Some(divisor.ok_or_else(|| self.malformed("multipleOf"))?)
            }
        };
        Ok(Some(Box::new(Numbers {
            minimum: self.limit("minimum")?,
            maximum: self.limit("maximum")?,
            above: self.limit("exclusiveMinimum")?,
            below: self.limit("exclusiveMaximum")?,
            divisor,
        })))
    }

    pub(super) fn texts(&self) -> Result<Option<Box<Texts>>, Unplanned> {
        if self.says_none(&["minLength", "maxLength", "format", "pattern"]) {
            return Ok(None);
        }
        let format = match self.text("format")? {
            None => None,
            Some(name) => Some(Format::named(name).ok_or_else(|| self.unknown(&format!("format: {name}")))?),
        };
        let form = match self.text("pattern")? {
            None => None,
            Some(pattern) => Some(Form::written(pattern).ok_or_else(|| self.unknown("pattern"))?),
        };
        Ok(Some(Box::new(Texts {
            least: self.count("minLength")?.unwrap_or(0),
            most: self.count("maxLength")?.unwrap_or(u64::MAX),
            format,
            form,
        })))
    }
}
