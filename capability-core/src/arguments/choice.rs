//! Which alternative a caller meant.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::refusal::one_of;
use super::suggest::shown;
use super::words;

/// The error to tell instead of `error`, when it is a choice and one alternative is plainly meant.
pub(super) fn closest<'e>(error: &'e ValidationError<'_>) -> Option<&'e ValidationError<'static>> {
    let context = branches(error)?;
    let place = error.instance_path().as_str();
    let mut meant: Vec<(usize, &[ValidationError<'static>])> = context
        .iter()
        .filter(|errors| !errors.is_empty() && !errors.iter().any(|inner| is_other_kind(inner, place)))
        .map(|errors| (errors.len(), errors.as_slice()))
        .collect();
    meant.sort_by_key(|(count, _)| *count);
    match meant.as_slice() {
        [(_, errors)] => errors.first(),
        // One alternative is much closer: the others lack their own properties as well.
        [(fewest, errors), (more, _), ..] if fewest < more => errors.first(),
        _ => None,
    }
}

fn branches<'e>(error: &'e ValidationError<'_>) -> Option<&'e [Vec<ValidationError<'static>>]> {
    if let Kind::AnyOf { context } | Kind::OneOfNotValid { context } = error.kind() { Some(context) } else { None }
}

/// True when an error says that the alternative is about something else: another type, or another tag.
fn is_other_kind(error: &ValidationError<'_>, place: &str) -> bool {
    let inside = error.instance_path().as_str();
    let directly = inside == place;
    let below = inside.strip_prefix(place).is_some_and(|rest| rest.matches('/').count() == 1);
    (directly
        && matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. } | Kind::FalseSchema))
        || (below && matches!(error.kind(), Kind::Constant { .. }))
}

/// A value that is none of several alternatives, in words.
pub(super) fn alternatives(
    instance: &Value,
    context: &[Vec<ValidationError<'static>>],
    schema: Option<&Value>,
) -> (String, String) {
    let errors = || context.iter().flatten();
    let mut values: Vec<Value> = Vec::new();
    for error in errors() {
        if let Kind::Constant { expected_value } = error.kind() {
            values.push((**expected_value).clone());
        } else if let Kind::Enum { options } = error.kind() {
            values.extend(options.as_array().into_iter().flatten().cloned());
        }
    }
    values.dedup();
    let tag = errors().find(|error| matches!(error.kind(), Kind::Constant { .. }));
    if let Some(tag) = tag.filter(|_| !values.is_empty()) {
        let (rule, help) = one_of(tag.instance(), &values);
        let tag = tag.instance_path().as_str().rsplit('/').next().unwrap_or_default();
        return (if instance.is_object() { format!("`{}`: {rule}", shown(tag)) } else { rule }, help);
    }
    if !values.is_empty() && !instance.is_object() {
        return one_of(instance, &values);
    }
    let mut expected: Vec<String> = schema
        .into_iter()
        .flat_map(|schema| ["anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()))
        .flatten()
        .map(described)
        .collect();
    expected.dedup();
    ("the value is none of the alternatives".to_owned(), format!("send {}", words::listed(expected)))
}

fn described(branch: &Value) -> String {
    let required: Vec<String> = branch
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|name| format!("`{name}`"))
        .collect();
    if required.is_empty() { words::expected(branch) } else { format!("an object with {}", required.join(", ")) }
}
