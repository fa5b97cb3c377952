//! Sorts parameters: borrowed ones are handles, owned ones are arguments.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{FnArg, Pat, PatType, Signature, Type, TypeReference};

use crate::attributes::{self, Role};
use crate::borrow::{Borrow, unwrapped};
use crate::diagnostics::{Problem, Sink};
use crate::model::{Argument, Handle, Parameter};
use crate::{description, fields, paths};

/// Sorts the parameters into handles and arguments, reporting those that are neither.
pub fn read<'a>(signature: &'a Signature, sink: &mut Sink) -> Vec<Parameter<'a>> {
    let has_generics = !signature.generics.params.is_empty();
    let mut parameters = Vec::new();
    for input in &signature.inputs {
        let typed = match input {
            FnArg::Receiver(receiver) => {
                sink.report(
                    receiver.self_token,
                    Problem::new(
                        "`#[capability]` is on a method",
                        "a capability is a function outside of any `impl` or `trait`, without `self`",
                        "move the function out, as in `async fn fetch(http: &Http, url: String)`",
                    ),
                );
                continue;
            }
            FnArg::Typed(typed) => typed,
        };
        let mistakes = sink.len();
        let parameter = match unwrapped(&typed.ty) {
            Type::Reference(reference) => handle(typed, reference, has_generics, sink).map(Parameter::Handle),
            owned => argument(typed, owned, has_generics, sink).map(Parameter::Argument),
        };
        if let Some(parameter) = parameter.filter(|_| sink.len() == mistakes) {
            parameters.push(parameter);
        }
    }
    check_together(&parameters, sink);
    parameters
}

fn handle<'a>(
    typed: &'a PatType,
    reference: &'a TypeReference,
    has_generics: bool,
    sink: &mut Sink,
) -> Option<Handle<'a>> {
    for attribute in &typed.attrs {
        match attributes::role(attribute) {
            Role::Whole | Role::Field => {
                let word = paths::text(&attribute.path().to_token_stream());
                sink.report(
                    attribute.path(),
                    Problem::new(
                        format_args!("`#[{word}]` is on a borrowed parameter"),
                        "a borrowed parameter is a handle, and only an owned one is an argument",
                        format_args!("remove `#[{word}]`, or take the parameter owned"),
                    ),
                );
            }
            Role::Foreign => fields::foreign(attribute, sink),
            Role::Doc => description::report(attribute, sink),
            Role::Condition | Role::Lint => {}
        }
    }
    let ty = unwrapped(&reference.elem);
    let name = match &*typed.pat {
        Pat::Ident(pat) => pat.ident.to_string(),
        _ => "name".to_owned(),
    };
    if let Some(mutability) = &reference.mutability {
        sink.report(
            mutability,
            Problem::new(
                "`&mut` on a parameter of a `#[capability]`",
                "a handle is lent for reading, and an argument is owned",
                "remove `mut` from a handle, or take an argument owned, as in `name: String`",
            ),
        );
        return None;
    }
    if let Some(owned) = owned_form(ty) {
        sink.report(
            reference,
            Problem::new(
                format_args!(
                    "`{}` is a borrowed argument of a `#[capability]`",
                    paths::text(&reference.to_token_stream())
                ),
                "arguments are owned, and only handles are borrowed",
                format_args!("write `{name}: {owned}`"),
            ),
        );
        return None;
    }
    if let Some(opaque) = Borrow::opaque_within(ty) {
        report_opaque(&opaque, sink);
        return None;
    }
    if let Some(lifetime) = reference.lifetime.as_ref().filter(|_| !has_generics) {
        sink.report(
            lifetime,
            Problem::new(
                "a lifetime on a handle of a `#[capability]`",
                "a handle is lent for one call and no longer",
                format_args!("write `{name}: &{}`", paths::text(&ty.to_token_stream())),
            ),
        );
        return None;
    }
    Some(Handle { ty, conditions: attributes::conditions(&typed.attrs) })
}

/// What to write instead of a borrow that can only be meant as an argument.
fn owned_form(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) if path.qself.is_none() && path.path.is_ident("str") => Some("String".to_owned()),
        Type::Slice(slice) => {
            let element = unwrapped(&slice.elem);
            let element = match element {
                Type::Reference(inner) => owned_form(unwrapped(&inner.elem)),
                _ => None,
            }
            .unwrap_or_else(|| paths::text(&element.to_token_stream()));
            Some(format!("Vec<{element}>"))
        }
        Type::Array(array) => Some(paths::text(&array.to_token_stream())),
        Type::Tuple(tuple) => Some(paths::text(&tuple.to_token_stream())),
        Type::TraitObject(_) => Some("String".to_owned()),
        Type::Reference(inner) => {
            owned_form(unwrapped(&inner.elem)).or_else(|| Some(paths::text(&inner.elem.to_token_stream())))
        }
        _ => None,
    }
}

fn argument<'a>(typed: &'a PatType, ty: &'a Type, has_generics: bool, sink: &mut Sink) -> Option<Argument<'a>> {
    let ident = match &*typed.pat {
        Pat::Ident(pat) if pat.subpat.is_none() && pat.by_ref.is_none() => Some(&pat.ident),
        pattern => {
            sink.report(
                pattern,
                Problem::new(
                    "a parameter of a `#[capability]` has no name",
                    "an argument's name is its property in the argument object",
                    "write a name, as in `query: String`, and take it apart in the body",
                ),
            );
            None
        }
    };
    match Borrow::within(ty) {
        Some(Borrow::Opaque(opaque)) => report_opaque(&opaque, sink),
        Some(Borrow::Reference(at) | Borrow::Lifetime(at)) if !has_generics => sink.report(
            at,
            Problem::new(
                "an argument of a `#[capability]` borrows",
                "arguments are owned, for nobody else keeps what they would borrow",
                "write an owned type, as in `Option<String>` or `Vec<String>`",
            ),
        ),
        Some(Borrow::Reference(_) | Borrow::Lifetime(_)) | None => {}
    }
    let (whole, concrete, attributes) = fields::of_argument(&typed.attrs, sink);
    let docs = description::of_field(&typed.attrs);
    let summary = description::summary(&typed.attrs);
    let ident = ident?;
    let name = ident.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let property = fields::renamed(&typed.attrs).unwrap_or_else(|| name.to_owned());
    let conditions = attributes::conditions(&typed.attrs);
    Some(Argument { ident, property, ty, summary, attributes: quote!(#docs #attributes), conditions, whole, concrete })
}

fn report_opaque(opaque: &TokenStream, sink: &mut Sink) {
    sink.report(
        opaque,
        Problem::new(
            "a parameter of this `#[capability]` is `impl Trait`",
            "an argument has a schema, and a schema needs a type with a name",
            "write the type, as in `query: String`",
        ),
    );
}

/// Rules that more than one parameter is needed to break.
fn check_together(parameters: &[Parameter<'_>], sink: &mut Sink) {
    let arguments = parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Argument(argument) => Some(argument),
        Parameter::Handle(_) => None,
    });
    let (whole, plain): (Vec<_>, Vec<_>) = arguments.partition(|argument| argument.whole);
    if let [_, second, ..] = whole.as_slice() {
        let rule = "it marks the one parameter that is the whole argument object";
        let help = "put the properties of both types into one, as in `#[args] arguments: Arguments`";
        sink.report(second.ident, Problem::new("`#[args]` is on two parameters", rule, help));
    } else if let ([whole], [beside, ..]) = (whole.as_slice(), plain.as_slice()) {
        sink.report(
            beside.ident,
            Problem::new(
                format_args!("`{}` stands beside the `#[args]` parameter `{}`", beside.ident, whole.ident),
                "that one is the whole argument object",
                format_args!("move `{}` into the type of `{}`, or remove `#[args]`", beside.ident, whole.ident),
            ),
        );
    }
    for (at, argument) in plain.iter().enumerate().filter(|(_, argument)| argument.conditions.is_empty()) {
        let before = plain.iter().take(at).filter(|earlier| earlier.conditions.is_empty());
        if before.into_iter().any(|earlier| earlier.property == argument.property) {
            let property = &argument.property;
            sink.report(
                argument.ident,
                Problem::new(
                    format_args!("`{property}` is the property of two arguments of a `#[capability]`"),
                    "each argument is a property of its own",
                    "write another name in `#[serde(rename = \"..\")]`",
                ),
            );
        }
    }
    let handles: Vec<_> = parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Parameter::Handle(handle) if handle.conditions.is_empty() => Some(handle.ty),
            Parameter::Handle(_) | Parameter::Argument(_) => None,
        })
        .collect();
    for (at, ty) in handles.iter().enumerate() {
        if handles.iter().take(at).any(|earlier| earlier == ty) {
            let text = paths::text(&ty.to_token_stream());
            sink.report(
                ty,
                Problem::new(
                    format_args!("`&{text}` is lent twice to a `#[capability]`"),
                    "one handle of each kind is lent to a call",
                    format_args!("remove this `&{text}`, and use the first one"),
                ),
            );
        }
    }
}
