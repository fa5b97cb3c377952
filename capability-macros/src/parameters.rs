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
        Type::Path(path) if path.qself.is_none() => owned_std(&path.path),
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

/// Whether a type is known to have no size, so that the compiler would say so once for each use.
pub fn is_unsized(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.qself.is_none() && ["str", "Path"].iter().any(|word| path.path.is_ident(word)),
        Type::Slice(_) | Type::TraitObject(_) => true,
        _ => false,
    }
}

/// What the standard library's types become. None of them is a handle under any import.
fn owned_std(path: &syn::Path) -> Option<String> {
    const PLAIN: &[&str] = &[
        "String", "PathBuf", "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
        "i128", "isize", "f32", "f64",
    ];
    const OF_OTHERS: &[&str] = &["Vec", "Option", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "VecDeque"];
    let last = path.segments.last()?;
    match last.ident.to_string().as_str() {
        "str" => Some("String".to_owned()),
        "Path" if last.arguments.is_none() => Some("PathBuf".to_owned()),
        word if PLAIN.contains(&word) && last.arguments.is_none()
            || OF_OTHERS.contains(&word) && !last.arguments.is_none() =>
        {
            let ty = path.to_token_stream();
            let inner = syn::parse2(ty.clone()).ok().and_then(|ty| without_borrow(&ty));
            Some(inner.unwrap_or_else(|| paths::text(&ty)))
        }
        _ => None,
    }
}

/// The type as text with its first borrow owned.
fn without_borrow(ty: &Type) -> Option<String> {
    let Borrow::Reference(at) = Borrow::within(ty)? else { return None };
    let reference: TypeReference = syn::parse2(at.clone()).ok()?;
    let owned =
        owned_form(unwrapped(&reference.elem)).unwrap_or_else(|| paths::text(&reference.elem.to_token_stream()));
    Some(paths::text(&ty.to_token_stream()).replacen(&paths::text(&at), &owned, 1))
}

/// A handle that is borrowed inside another type.
fn lent_within(at: &TokenStream) -> Option<String> {
    const HANDLES: &[&str] = &["Context", "Clock", "Device", "Journal", "Http", "Endpoint", "Workspace", "Secret"];
    let reference: TypeReference = syn::parse2(at.clone()).ok()?;
    let Type::Path(path) = unwrapped(&reference.elem) else { return None };
    let last = path.path.segments.last()?;
    HANDLES.iter().any(|handle| last.ident == handle).then(|| paths::text(at))
}

/// What to write in place of an argument that borrows.
fn owned_argument(typed: &PatType, ty: &Type, at: &TokenStream) -> String {
    let name = paths::text(&typed.pat.to_token_stream());
    let is_cow = matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Cow"));
    match (lent_within(at), without_borrow(ty)) {
        (Some(handle), _) => format!("write `{name}: {handle}`; a handle is always there"),
        (None, Some(owned)) => format!("write `{name}: {owned}`"),
        (None, None) if is_cow => format!("write `{name}: String`"),
        (None, None) => "write an owned type, as in `Option<String>` or `Vec<String>`".to_owned(),
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
        _ if is_unsized(ty) => {
            let name = paths::text(&typed.pat.to_token_stream());
            let owned = owned_form(ty).unwrap_or_else(|| "String".to_owned());
            let written = paths::text(&ty.to_token_stream());
            sink.report(
                ty,
                Problem::new(
                    format_args!("`{written}` is an argument of a `#[capability]` without a size"),
                    "arguments are owned, and what has no size cannot be",
                    format_args!("write `{name}: {owned}`"),
                ),
            );
        }
        Some(Borrow::Opaque(opaque)) => report_opaque(&opaque, sink),
        Some(Borrow::Reference(at) | Borrow::Lifetime(at)) if !has_generics => sink.report(
            &at,
            Problem::new(
                "an argument of a `#[capability]` borrows",
                "arguments are owned, for nobody else keeps what they would borrow",
                owned_argument(typed, ty, &at),
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
