//! One broken rule, and what is told of it.

use std::borrow::Cow;

use serde_json::Value;

/// One broken rule.
#[derive(Debug, Clone)]
pub(crate) struct Mistake<'a> {
    pub(crate) kind: Kind<'a>,
    /// The keyword's place in the compiled document, as a JSON pointer.
    pub(crate) schema: String,
    /// The place in the value, as a JSON pointer.
    pub(crate) place: String,
    /// What stands there.
    pub(crate) value: Cow<'a, Value>,
}

/// The rule, with what is told of it.
#[derive(Debug, Clone)]
pub(crate) enum Kind<'a> {
    Type,
    /// A whole number that is written so that it may have been rounded.
    Inexact,
    Constant(Cow<'a, Value>),
    /// A list of values.
    Enum(Cow<'a, Value>),
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
    MultipleOf(f64),
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    MaxProperties,
    Pattern(Cow<'a, str>),
    Format(Cow<'a, str>),
    UniqueItems,
    Required(Cow<'a, str>),
    AdditionalProperties(Vec<String>),
    UnevaluatedProperties(Vec<String>),
    /// A key is refused.
    PropertyNames(Box<Mistake<'a>>),
    /// The schema `false`.
    Nothing,
    /// The same for further items, by a keyword that only a general validator knows.
    #[cfg_attr(not(feature = "jsonschema"), expect(dead_code, reason = "only a general validator knows it"))]
    NoItems(&'static str),
    AnyOf(Vec<Vec<Mistake<'a>>>),
    OneOfNone(Vec<Vec<Mistake<'a>>>),
    OneOfSeveral,
    Not(Cow<'a, Value>),
    /// A keyword that only a general validator knows.
    #[cfg_attr(not(feature = "jsonschema"), expect(dead_code, reason = "only a general validator knows others"))]
    Other(&'static str),
}

impl Kind<'_> {
    /// The keyword that says so.
    pub(crate) const fn keyword(&self) -> &'static str {
        match self {
            Self::Type | Self::Inexact => "type",
            Self::Constant(_) => "const",
            Self::Enum(_) => "enum",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::ExclusiveMinimum => "exclusiveMinimum",
            Self::ExclusiveMaximum => "exclusiveMaximum",
            Self::MultipleOf(_) => "multipleOf",
            Self::MinLength => "minLength",
            Self::MaxLength => "maxLength",
            Self::MinItems => "minItems",
            Self::MaxItems => "maxItems",
            Self::MinProperties => "minProperties",
            Self::MaxProperties => "maxProperties",
            Self::Pattern(_) => "pattern",
            Self::Format(_) => "format",
            Self::UniqueItems => "uniqueItems",
            Self::Required(_) => "required",
            Self::AdditionalProperties(_) => "additionalProperties",
            Self::UnevaluatedProperties(_) => "unevaluatedProperties",
            Self::PropertyNames(_) => "propertyNames",
            Self::Nothing => "falseSchema",
            Self::AnyOf(_) => "anyOf",
            Self::OneOfNone(_) | Self::OneOfSeveral => "oneOf",
            Self::Not(_) => "not",
            Self::NoItems(keyword) | Self::Other(keyword) => keyword,
        }
    }
}

impl Mistake<'_> {
    /// The same, holding everything itself.
    pub(crate) fn owned(self) -> Mistake<'static> {
        let owned = |branches: Vec<Vec<Mistake<'_>>>| {
            branches.into_iter().map(|branch| branch.into_iter().map(Mistake::owned).collect()).collect()
        };
        let kind = match self.kind {
            Kind::Type => Kind::Type,
            Kind::Inexact => Kind::Inexact,
            Kind::Constant(value) => Kind::Constant(Cow::Owned(value.into_owned())),
            Kind::Enum(values) => Kind::Enum(Cow::Owned(values.into_owned())),
            Kind::Minimum => Kind::Minimum,
            Kind::Maximum => Kind::Maximum,
            Kind::ExclusiveMinimum => Kind::ExclusiveMinimum,
            Kind::ExclusiveMaximum => Kind::ExclusiveMaximum,
            Kind::MultipleOf(divisor) => Kind::MultipleOf(divisor),
            Kind::MinLength => Kind::MinLength,
            Kind::MaxLength => Kind::MaxLength,
            Kind::MinItems => Kind::MinItems,
            Kind::MaxItems => Kind::MaxItems,
            Kind::MinProperties => Kind::MinProperties,
            Kind::MaxProperties => Kind::MaxProperties,
            Kind::Pattern(pattern) => Kind::Pattern(Cow::Owned(pattern.into_owned())),
            Kind::Format(format) => Kind::Format(Cow::Owned(format.into_owned())),
            Kind::UniqueItems => Kind::UniqueItems,
            Kind::Required(name) => Kind::Required(Cow::Owned(name.into_owned())),
            Kind::AdditionalProperties(names) => Kind::AdditionalProperties(names),
            Kind::UnevaluatedProperties(names) => Kind::UnevaluatedProperties(names),
            Kind::PropertyNames(inner) => Kind::PropertyNames(Box::new(inner.owned())),
            Kind::Nothing => Kind::Nothing,
            Kind::NoItems(keyword) => Kind::NoItems(keyword),
            Kind::AnyOf(branches) => Kind::AnyOf(owned(branches)),
            Kind::OneOfNone(branches) => Kind::OneOfNone(owned(branches)),
            Kind::OneOfSeveral => Kind::OneOfSeveral,
            Kind::Not(schema) => Kind::Not(Cow::Owned(schema.into_owned())),
            Kind::Other(keyword) => Kind::Other(keyword),
        };
        Mistake { kind, schema: self.schema, place: self.place, value: Cow::Owned(self.value.into_owned()) }
    }
}
