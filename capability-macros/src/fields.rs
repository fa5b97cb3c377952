//! Attributes on parameters: what goes to the generated field, and what means nothing there.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Attribute;

use crate::attributes::{self, Role};
use crate::diagnostics::{Problem, Sink};
use crate::{description, paths, refusal};

/// Whether it is the whole object, whether the field needs its written type, and the attributes of the field.
pub fn of_argument(attributes: &[Attribute], sink: &mut Sink) -> (bool, bool, TokenStream) {
    let (mut whole, mut concrete, mut fields) = (false, false, TokenStream::new());
    for attribute in attributes {
        match attributes::role(attribute) {
            Role::Whole => {
                whole = true;
                if attribute.meta.require_path_only().is_err() {
                    let wrong = "`#[args]` has a value";
                    sink.report(
                        attribute.path(),
                        Problem::new(
                            wrong,
                            "its presence alone says it",
                            "write `#[args]` for yes, and nothing for no",
                        ),
                    );
                }
            }
            Role::Field if attributes::conditional_args(attribute).is_some() => {
                let rule = "a contract is the same under every one";
                let at = attributes::conditional_args(attribute).map(|hidden| hidden.key);
                sink.report(at, Problem::new("`#[args]` is under a condition", rule, "write `#[args]`"));
            }
            Role::Field if attributes::conditional_confirmation(attribute).is_some() => {
                if let Some(hidden) = attributes::conditional_confirmation(attribute) {
                    refusal::report(&hidden.key, &hidden.word, sink);
                }
            }
            Role::Field => {
                let text = paths::text(&attribute.meta.to_token_stream());
                if text.starts_with("serde(") && text.contains("flatten") {
                    sink.report(
                        &attribute.meta,
                        Problem::new(
                            "`#[serde(flatten)]` is on a parameter of a `#[capability]`",
                            "the argument object is closed, and a flattened one could not refuse unknown properties",
                            "take one parameter as the whole object, as in `#[args] arguments: Arguments`",
                        ),
                    );
                }
                concrete |= speaks_of_types(&text);
                fields.extend(attribute.to_token_stream());
            }
            Role::Condition => {
                concrete = true;
                fields.extend(attribute.to_token_stream());
            }
            Role::Foreign => foreign(attribute, sink),
            Role::Doc => description::report(attribute, sink),
            Role::Lint => {}
        }
    }
    (whole, concrete, fields)
}

/// A field is typed by a parameter of its struct unless an attribute names functions or types for it: those fit the written
/// type only.
fn speaks_of_types(text: &str) -> bool {
    text.starts_with("cfg_attr")
        || ["with", "default", "bound", "skip", "getter", "borrow", "example"].iter().any(|word| text.contains(word))
}

/// What `#[serde(rename = "..")]` calls the property.
pub fn renamed(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("serde")).find_map(|attribute| {
        let mut name = None;
        // Whatever else stands there is for serde to judge.
        let _: syn::Result<()> = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") && meta.input.peek(syn::Token![=]) {
                name = Some(meta.value()?.parse::<syn::LitStr>()?.value());
            } else if meta.path.is_ident("rename") {
                meta.parse_nested_meta(|inner| {
                    let text = inner.value()?.parse::<syn::LitStr>()?.value();
                    if inner.path.is_ident("deserialize") {
                        name = Some(text);
                    }
                    Ok(())
                })?;
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
        name
    })
}

pub fn foreign(attribute: &Attribute, sink: &mut Sink) {
    let word = paths::text(&attribute.path().to_token_stream());
    if refusal::is_confirmation(&word) {
        refusal::report(attribute.path(), &word, sink);
        return;
    }
    let known = ["args", "serde", "schemars", "cfg", "doc"];
    let help = crate::diagnostics::nearest(&word, &known)
        .map_or_else(|| format!("remove `#[{word}]`"), |meant| format!("write `#[{meant}]`"));
    sink.report(
        attribute.path(),
        Problem::new(
            format_args!("`#[{word}]` is on a parameter of a `#[capability]`"),
            "only `#[args]`, `#[serde(..)]`, `#[schemars(..)]`, `#[cfg(..)]`, docs and lint levels mean something there",
            help,
        ),
    );
}
