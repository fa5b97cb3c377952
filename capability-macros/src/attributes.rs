//! Which attributes go where.

use quote::ToTokens;
use syn::Attribute;

use crate::args::{self, Item};
use crate::refusal;

/// Lint levels belong to the function's own parameter: a generated field that expects a lint would never meet it.
const LINT_LEVELS: &[&str] = &["allow", "expect", "warn", "deny", "forbid"];

/// What an attribute on a parameter is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `#[args]`
    Whole,
    /// Goes to the generated field.
    Field,
    /// Goes to the generated field and stays on the parameter: one without the other would not fit together.
    Condition,
    /// Stays on the parameter.
    Lint,
    /// A documentation comment.
    Doc,
    /// None of ours.
    Foreign,
}

/// The role of one attribute.
pub fn role(attribute: &Attribute) -> Role {
    let Some(ident) = attribute.path().get_ident() else { return Role::Foreign };
    match ident.to_string().as_str() {
        "args" => Role::Whole,
        "serde" | "schemars" | "cfg_attr" => Role::Field,
        "cfg" => Role::Condition,
        "doc" => Role::Doc,
        level if LINT_LEVELS.contains(&level) => Role::Lint,
        _ => Role::Foreign,
    }
}

/// Whether it remains on the function's parameter.
pub fn stays_on_parameter(attribute: &Attribute) -> bool {
    matches!(role(attribute), Role::Condition | Role::Lint)
}

/// Whether an attribute on the function must not reach the compiler: it was reported, and no such attribute exists.
pub fn is_for_the_macro(attribute: &Attribute) -> bool {
    let path = attribute.path();
    path.segments.iter().any(|segment| refusal::is_confirmation(&segment.ident.to_string()))
        || path.segments.last().is_some_and(|segment| segment.ident == "capability")
        || conditional_confirmation(attribute).is_some()
        || is_entry_point(attribute)
        || crate::description::is_unreadable(attribute)
}

/// Whether it makes a function something that a runner calls by itself: `#[test]`, `#[tokio::main]` and the like.
pub fn is_entry_point(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| ["test", "bench", "main"].iter().any(|word| last.ident == word))
}

/// A confirmation inside `#[cfg_attr(..)]`.
pub fn conditional_confirmation(attribute: &Attribute) -> Option<Item> {
    conditional(attribute, refusal::is_confirmation)
}

/// An `#[args]` inside `#[cfg_attr(..)]`.
pub fn conditional_args(attribute: &Attribute) -> Option<Item> {
    conditional(attribute, |word| word == "args")
}

fn conditional(attribute: &Attribute, is_meant: impl Fn(&str) -> bool) -> Option<Item> {
    let list = attribute.meta.require_list().ok().filter(|list| list.path.is_ident("cfg_attr"))?;
    args::items(list.tokens.clone()).into_iter().skip(1).find(|item| is_meant(&item.word))
}

/// The conditions under which the function exists, for the code beside it.
pub fn conditions(attributes: &[Attribute]) -> Vec<&Attribute> {
    attributes.iter().filter(|attribute| is_condition(attribute)).collect()
}

fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        || attribute.path().is_ident("cfg_attr") && {
            let text = crate::paths::text(&attribute.meta.to_token_stream());
            text.contains(", cfg(")
        }
}
