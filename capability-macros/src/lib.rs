//! The attribute macro behind `capability_core::capability`.
//!
//! The way through it: `args` and `signature` read what was written and keep its spans, `validate` holds it against
//! the rules and either gives a `model` or reports every mistake, `expand` turns a model into tokens and cannot fail.
//! `fallback` is what is left of a function with mistakes: the function itself, and no registry entry.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the syntax tree's enums are open: whatever is not named is refused or passed on, and that is the decision"
)]

mod args;
mod attributes;
mod borrow;
mod bounds;
mod description;
mod diagnostics;
mod expand;
mod fallback;
mod fields;
mod head;
mod keys;
mod model;
mod name;
mod parameters;
mod paths;
mod refusal;
mod section;
mod signature;
#[cfg(test)]
mod tests;
mod units;
mod validate;
mod values;

use proc_macro::TokenStream;

// Its documentation stands where it is exported, so that the examples in it are compiled: `capability_core::capability`.
#[expect(missing_docs, reason = "documented where it is exported")]
#[proc_macro_attribute]
pub fn capability(attribute: TokenStream, item: TokenStream) -> TokenStream {
    define(attribute.into(), item.into(), paths::Found::of_manifest).into()
}

/// The whole macro, on tokens that a test can make too.
fn define(
    attribute: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
    found: fn() -> paths::Found,
) -> proc_macro2::TokenStream {
    let mut sink = diagnostics::Sink::default();
    let written = args::Written::read(attribute, &mut sink);
    let Some(function) = signature::read(&item, &written, &mut sink) else {
        return fallback::of_other(item, sink);
    };
    match validate::validate(&written, &function, found, &mut sink) {
        Some(model) if sink.is_empty() => expand::expand(&model),
        _ => fallback::of_function(&function, sink),
    }
}
