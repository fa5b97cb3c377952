//! Rules for the function's head: what it may be, and which of its parameters is what.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit::Visit;
use syn::{Attribute, FnArg, Pat, PatType, ReturnType, Safety, Signature, Type, TypeReference};

use crate::attributes::{self, Role};
use crate::diagnostics::{Problem, Sink};
use crate::model::{Argument, Handle, Parameter};
use crate::{description, paths, refusal};

/// Reports everything about the head that a capability cannot have.
pub fn check_head(signature: &Signature, sink: &mut Sink) {
    if let Some(constness) = &signature.constness {
        let rule = "a capability runs when it is asked for, not when it compiles";
        sink.report(constness, Problem::new("`#[capability]` is on a `const fn`", rule, "remove `const`"));
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        let rule = "what a machine may ask for has no conditions that only its caller can keep";
        let help = "remove `unsafe`, and keep the unsafe part inside the body";
        sink.report(unsafety, Problem::new("`#[capability]` is on an `unsafe fn`", rule, help));
    }
    if let Some(abi) = &signature.abi {
        let rule = "it is called through the registry and through nothing else";
        sink.report(abi, Problem::new("`#[capability]` is on an `extern` function", rule, "remove `extern`"));
    }
    if let Some(variadic) = &signature.variadic {
        let rule = "every argument is a property of one closed object";
        let help = "write a list instead, as in `values: Vec<u32>`";
        sink.report(variadic, Problem::new("`#[capability]` takes a variable number of arguments", rule, help));
    }
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        let only_lifetimes = generics.type_params().next().is_none() && generics.const_params().next().is_none();
        let (wrong, help) = if only_lifetimes {
            (
                "`#[capability]` has lifetime parameters",
                "remove `<..>` and every lifetime: a handle is written as `context: &Context`",
            )
        } else {
            (
                "`#[capability]` has generic parameters",
                "write the concrete types; each further type is a capability of its own",
            )
        };
        sink.report(&generics.params, Problem::new(wrong, "one function is one capability with one schema", help));
    } else if let Some(clause) = &generics.where_clause {
        let rule = "one function is one capability with one schema";
        sink.report(clause, Problem::new("`#[capability]` has a `where` clause", rule, "remove `where ..`"));
    }
    check_result(&signature.output, !generics.params.is_empty(), sink);
}

fn check_result(output: &ReturnType, has_generics: bool, sink: &mut Sink) {
    let ReturnType::Type(_, ty) = output else { return };
    match unwrapped(ty) {
        Type::Never(never) => sink.report(
            never,
            Problem::new(
                "`#[capability]` never returns",
                "a call ends with a result or a failure",
                "write `-> Result<(), Failure>`",
            ),
        ),
        other => match Borrow::within(other) {
            Some(Borrow::Opaque(opaque)) => sink.report(
                opaque,
                Problem::new(
                    "the result of this `#[capability]` is `impl Trait`",
                    "a result has a schema, and a schema needs a type with a name",
                    "write the type, as in `-> Result<Found, Failure>`",
                ),
            ),
            Some(Borrow::Reference(at) | Borrow::Lifetime(at)) if !has_generics => sink.report(
                at,
                Problem::new(
                    "the result of this `#[capability]` borrows",
                    "a result outlives the call that made it",
                    "return owned data, as in `-> String`",
                ),
            ),
            Some(Borrow::Reference(_) | Borrow::Lifetime(_)) | None => {}
        },
    }
}

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
                        "move the function out, and take what it needs as handles and arguments",
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

/// A type without the parentheses and the invisible groups around it.
fn unwrapped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => unwrapped(&group.elem),
        Type::Paren(paren) => unwrapped(&paren.elem),
        other => other,
    }
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
            Role::Foreign => foreign(attribute, sink),
            Role::Condition | Role::Lint | Role::Doc => {}
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
                "arguments are owned: nobody else keeps what they would borrow",
                "write an owned type, as in `Option<String>` or `Vec<String>`",
            ),
        ),
        Some(Borrow::Reference(_) | Borrow::Lifetime(_)) | None => {}
    }
    let (whole, concrete, fields) = field_attributes(&typed.attrs, sink);
    let docs = description::of_field(&typed.attrs);
    let ident = ident?;
    let name = ident.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let property = renamed(&typed.attrs).unwrap_or_else(|| name.to_owned());
    let conditions = attributes::conditions(&typed.attrs);
    Some(Argument { ident, property, ty, attributes: quote!(#docs #fields), conditions, whole, concrete })
}

/// Whether it is the whole object, whether the field needs its written type, and the attributes of the field.
fn field_attributes(attributes: &[Attribute], sink: &mut Sink) -> (bool, bool, TokenStream) {
    let (mut whole, mut concrete, mut fields) = (false, false, TokenStream::new());
    for attribute in attributes {
        match attributes::role(attribute) {
            Role::Whole => whole = true,
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
            Role::Lint | Role::Doc => {}
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
fn renamed(attributes: &[Attribute]) -> Option<String> {
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

fn foreign(attribute: &Attribute, sink: &mut Sink) {
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
        let help = "put the properties of both types into one";
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
                    "remove this parameter, and use the first one",
                ),
            );
        }
    }
}

/// The first thing in a type that an owned, named type does not have.
enum Borrow {
    Opaque(TokenStream),
    Reference(TokenStream),
    Lifetime(TokenStream),
}

impl Borrow {
    fn within(ty: &Type) -> Option<Self> {
        let mut finder = Finder(None);
        finder.visit_type(ty);
        finder.0
    }

    fn opaque_within(ty: &Type) -> Option<TokenStream> {
        match Self::within(ty) {
            Some(Self::Opaque(opaque)) => Some(opaque),
            Some(Self::Reference(_) | Self::Lifetime(_)) | None => None,
        }
    }
}

struct Finder(Option<Borrow>);

impl<'ast> Visit<'ast> for Finder {
    fn visit_type_impl_trait(&mut self, opaque: &'ast syn::TypeImplTrait) {
        self.0.get_or_insert_with(|| Borrow::Opaque(opaque.to_token_stream()));
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static") {
            self.0.get_or_insert_with(|| Borrow::Reference(reference.to_token_stream()));
        }
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        if lifetime.ident != "static" {
            self.0.get_or_insert_with(|| Borrow::Lifetime(lifetime.to_token_stream()));
        }
    }

    // A function pointer's own lifetimes are bound inside it.
    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
}
