//! Rules for the function's head, its parameters apart: what it may be, and what it may return.

use syn::{ReturnType, Safety, Signature, Type};

use crate::borrow::{Borrow, unwrapped};
use crate::diagnostics::{Problem, Sink};

/// Reports everything about the head that a capability cannot have.
pub fn check(signature: &Signature, sink: &mut Sink) {
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
    if let Some(own) = Borrow::own_type_within(signature) {
        let rule = "a capability is a function outside of any `impl` or `trait`, without `Self`";
        let help = "move the function out, and write the type's name, as in `fn open(name: String) -> Door`";
        sink.report(own, Problem::new("`#[capability]` is on a method", rule, help));
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
                "write concrete types, as in `query: String`; each further type is a capability of its own",
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
