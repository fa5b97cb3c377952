//! A validator for all of JSON Schema 2020-12: for documents that the check of our own does not know every keyword of, and
//! the measure of that check in the tests.

use std::borrow::Cow;
use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::{Map, Value};

use super::arena::{Arena, Arenas};
use crate::contract::SchemaFault;
use crate::contract::schema::check::{Kind, Mistake};
use crate::contract::schema::general::{uncompilable, validation, validation_of};
use crate::contract::schema::pointer::Pointer;
use crate::contract::schema::walk;

/// One document's validators.
pub(super) struct General {
    /// As it is compiled.
    guarded: Value,
    arena: Validator<Arenas>,
    /// For trees, compiled when something is refused for the first time.
    tree: OnceLock<Option<Validator>>,
    /// Refuses integers that were written as numbers too large to be exact; compiled when one turns up.
    exact: OnceLock<Option<Validator>>,
}

impl General {
    /// Compiles a guarded document.
    ///
    /// # Errors
    /// [`SchemaFault`] when it cannot enforce one of its keywords.
    pub(super) fn of(guarded: Value) -> Result<Self, SchemaFault> {
        let arena = validation_of::<Arenas>().build(&guarded).map_err(|error| uncompilable(&error))?;
        Ok(Self { guarded, arena, tree: OnceLock::new(), exact: OnceLock::new() })
    }

    pub(super) fn accepts(&self, arena: &Arena<'_>) -> bool {
        self.arena.is_valid(arena.view())
    }

    pub(super) fn accepts_tree(&self, value: &Value, exact: bool) -> bool {
        self.validator(exact).is_some_and(|validator| validator.is_valid(value))
    }

    /// Everything that is wrong with `value`, or the first of it.
    pub(super) fn mistakes(&self, value: &Value, exact: bool, limit: usize) -> Vec<Mistake<'static>> {
        let Some(validator) = self.validator(exact) else { return Vec::new() };
        let errors: Vec<ValidationError<'_>> = if limit == 1 {
            validator.validate(value).err().into_iter().collect()
        } else {
            validator.iter_errors(value).take(limit).collect()
        };
        errors.iter().map(mistake).collect()
    }

    /// None when it does not compile, which it did before for another representation.
    fn validator(&self, exact: bool) -> Option<&Validator> {
        if exact {
            self.exact.get_or_init(|| integers(&self.guarded)).as_ref()
        } else {
            self.tree.get_or_init(|| validation().build(&self.guarded).ok()).as_ref()
        }
    }
}

/// The keyword of ours that stands beside every `"type": "integer"` of the compiled copy.
const EXACT: &str = "exactInteger";

/// Compiles `schema` so that a double is no integer. None when it cannot be, which it was before.
fn integers(schema: &Value) -> Option<Validator> {
    let mut schema = schema.clone();
    mark(&mut schema).ok()?;
    validation().with_keyword(EXACT, exact_integer).build(&schema).ok()
}

/// Adds the keyword wherever integers are described.
fn mark(schema: &mut Value) -> Result<(), SchemaFault> {
    walk::every(schema, &mut Pointer::default(), &mut |schema, _| {
        if let Value::Object(object) = schema
            && walk::has_type(object, "integer")
        {
            object.insert(EXACT.to_owned(), Value::Bool(true));
        }
        Ok(())
    })
}

fn exact_integer<'s>(
    parent: &'s Map<String, Value>,
    _: &'s Value,
    _: jsonschema::paths::Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'s>> {
    let also_number = parent
        .get("type")
        .and_then(Value::as_array)
        .is_some_and(|types| types.iter().any(|name| name.as_str() == Some("number")));
    Ok(Box::new(ExactInteger { also_number }))
}

struct ExactInteger {
    also_number: bool,
}

impl<'i> Keyword<'i> for ExactInteger {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("an integer is written in digits")) }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        // A fraction is refused by its type already.
        self.also_number || !instance.as_number().is_some_and(serde_json::Number::is_f64) || !is_whole(instance)
    }
}

fn is_whole(instance: &Value) -> bool {
    instance.as_f64().is_some_and(|double| double.fract() == 0.0)
}

/// An error of the validator as ours.
fn mistake(error: &ValidationError<'_>) -> Mistake<'static> {
    let path = error.schema_path().as_str();
    let schema = match path.strip_suffix(EXACT) {
        Some(place) => format!("{place}type"),
        None => path.to_owned(),
    };
    Mistake {
        kind: kind(error.kind()),
        schema,
        place: error.instance_path().as_str().to_owned(),
        value: Cow::Owned(error.instance().clone().into_owned()),
    }
}

fn branches(context: &[Vec<ValidationError<'static>>]) -> Vec<Vec<Mistake<'static>>> {
    context.iter().map(|branch| branch.iter().map(mistake).collect()).collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "keywords that share one wording are told by their name alone")]
fn kind(kind: &ValidationErrorKind) -> Kind<'static> {
    use ValidationErrorKind as Theirs;
    match kind {
        Theirs::Type { .. } => Kind::Type,
        Theirs::Custom { .. } => Kind::Inexact,
        Theirs::Constant { expected_value } => Kind::Constant(Cow::Owned((**expected_value).clone())),
        Theirs::Enum { options } => Kind::Enum(Cow::Owned((**options).clone())),
        Theirs::Minimum { .. } => Kind::Minimum,
        Theirs::Maximum { .. } => Kind::Maximum,
        Theirs::ExclusiveMinimum { .. } => Kind::ExclusiveMinimum,
        Theirs::ExclusiveMaximum { .. } => Kind::ExclusiveMaximum,
        Theirs::MultipleOf { multiple_of } => Kind::MultipleOf(*multiple_of),
        Theirs::MinLength { .. } => Kind::MinLength,
        Theirs::MaxLength { .. } => Kind::MaxLength,
        Theirs::MinItems { .. } => Kind::MinItems,
        Theirs::MaxItems { .. } => Kind::MaxItems,
        Theirs::MinProperties { .. } => Kind::MinProperties,
        Theirs::MaxProperties { .. } => Kind::MaxProperties,
        Theirs::Pattern { pattern } => Kind::Pattern(Cow::Owned(pattern.clone())),
        Theirs::Format { format } => Kind::Format(Cow::Owned(format.clone())),
        Theirs::UniqueItems => Kind::UniqueItems,
        Theirs::Required { property } => Kind::Required(Cow::Owned(property.as_str().unwrap_or_default().to_owned())),
        Theirs::AdditionalProperties { unexpected } => Kind::AdditionalProperties(unexpected.clone()),
        Theirs::UnevaluatedProperties { unexpected } => Kind::UnevaluatedProperties(unexpected.clone()),
        Theirs::PropertyNames { error } => Kind::PropertyNames(Box::new(mistake(error))),
        Theirs::AdditionalItems { .. } => Kind::NoItems("additionalItems"),
        Theirs::UnevaluatedItems { .. } => Kind::NoItems("unevaluatedItems"),
        Theirs::FalseSchema => Kind::Nothing,
        Theirs::AnyOf { context } => Kind::AnyOf(branches(context)),
        Theirs::OneOfNotValid { context } => Kind::OneOfNone(branches(context)),
        Theirs::OneOfMultipleValid { .. } => Kind::OneOfSeveral,
        Theirs::Not { schema } => {
            let mut schema = schema.clone();
            // What we added to the compiled copy is not what was written.
            schema.as_object_mut().map(|schema| schema.remove(EXACT));
            Kind::Not(Cow::Owned(schema))
        }
        other => Kind::Other(keyword(other.keyword())),
    }
}

/// The keyword as text that lives as long as the program: a record keeps no other.
fn keyword(name: &str) -> &'static str {
    const KEYWORDS: [&str; 5] =
        ["contains", "contentEncoding", "contentMediaType", "dependentRequired", "dependentSchemas"];
    KEYWORDS.into_iter().find(|keyword| *keyword == name).unwrap_or("$ref")
}
