//! Which alternative a caller meant.

use serde_json::Value;

use super::refusal::one_of;
use super::suggest::shown;
use super::words;
use crate::contract::schema::check::{Kind, Mistake};

/// The mistake to tell instead of `mistake`, when that is a choice and one alternative is plainly meant.
pub(super) fn closest<'m, 'a>(mistake: &'m Mistake<'a>) -> Option<&'m Mistake<'a>> {
    let (Kind::AnyOf(branches) | Kind::OneOfNone(branches)) = &mistake.kind else { return None };
    let mut meant: Vec<(usize, &[Mistake<'a>])> = branches
        .iter()
        .filter(|inner| !inner.is_empty() && !inner.iter().any(|inner| is_other_kind(inner, &mistake.place)))
        .map(|inner| (inner.len(), inner.as_slice()))
        .collect();
    meant.sort_by_key(|(count, _)| *count);
    match meant.as_slice() {
        [(_, inner)] => inner.first(),
        // One alternative is much closer: the others lack their own properties as well.
        [(fewest, inner), (more, _), ..] if fewest < more => inner.first(),
        _ => None,
    }
}

/// True when a mistake says that the alternative is about something else: another type, or another tag.
fn is_other_kind(mistake: &Mistake<'_>, place: &str) -> bool {
    let inside = mistake.place.as_str();
    let directly = inside == place;
    let below = inside.strip_prefix(place).is_some_and(|rest| rest.matches('/').count() == 1);
    (directly && matches!(mistake.kind, Kind::Type | Kind::Enum(_) | Kind::Constant(_) | Kind::Nothing))
        || (below && matches!(mistake.kind, Kind::Constant(_)))
}

/// A value that is none of several alternatives, in words.
pub(super) fn alternatives(
    instance: &Value,
    branches: &[Vec<Mistake<'_>>],
    schema: Option<&Value>,
) -> (String, String) {
    let mistakes = || branches.iter().flatten();
    let mut values: Vec<Value> = Vec::new();
    for mistake in mistakes() {
        match &mistake.kind {
            Kind::Constant(value) => values.push(value.clone().into_owned()),
            Kind::Enum(options) => values.extend(options.as_array().into_iter().flatten().cloned()),
            _ => {}
        }
    }
    values.dedup();
    let tag = mistakes().find(|mistake| matches!(mistake.kind, Kind::Constant(_)));
    if let Some(tag) = tag.filter(|_| !values.is_empty()) {
        let (rule, help) = one_of(&tag.value, &values);
        let tag = tag.place.rsplit('/').next().unwrap_or_default();
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
