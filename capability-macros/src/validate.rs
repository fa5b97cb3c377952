//! Holds everything that was written against the rules. Makes no tokens but paths.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Path, parse_quote};

use crate::args::Written;
use crate::diagnostics::{Problem, Sink, any_of, nearest};
use crate::keys::KEYS;
use crate::model::{Bounds, Contract, Model, Network, Parameter, SideEffect, Target};
use crate::paths::Found;
use crate::signature::Function;
use crate::{bounds, head, parameters, values};

/// A model, when nothing was reported; every mistake otherwise.
pub fn validate<'a>(
    written: &Written,
    function: &'a Function,
    found: fn() -> Found,
    sink: &mut Sink,
) -> Option<Model<'a>> {
    check_missing(written, function, sink);
    head::check(&function.signature, sink);
    let mistakes = sink.len();
    let parameters = parameters::read(&function.signature, sink);
    let arguments = Arguments { parameters: &parameters, complete: sink.len() == mistakes };
    check_body(written, function, sink);

    let name = written.get("name").and_then(|entry| values::name(entry, sink));
    let version = written.get("version").and_then(|entry| values::version(entry, sink));
    let mut choice = |key, words| written.get(key).and_then(|entry| values::choice(entry, words, sink));
    let side_effect = choice("side_effect", SideEffect::WORDS);
    let network = choice("network", Network::WORDS);
    let risk = choice("risk", &["low", "medium", "high", "critical"]);
    let default = choice("default", &["ask", "deny"]);
    let title = written.get("title").and_then(|entry| values::title(entry, sink));
    let bounds = written.get("bounds").map_or_else(Bounds::default, |entry| bounds::read(entry, sink));
    let target = written.get("target").and_then(|entry| {
        let (kind, argument) = values::target(entry, sink)?;
        let (name, at) = argument?;
        Some(Target { kind, argument: arguments.property("target", &name, at, sink)? })
    });
    let scope = written.get("scope").and_then(|entry| {
        let (name, at) = values::argument_name(entry, sink)?;
        arguments.property("scope", &name, at, sink)
    });
    let mut path = |key| written.get(key).and_then(|entry| values::path(entry, sink));
    let (preview, check, root) = (path("preview"), path("check"), path("crate"));
    let support = support(root, found, function, sink)?;
    let flag = |key| written.get(key).is_some();

    let contract = Contract {
        name: name?,
        version: version?,
        title,
        side_effect: if side_effect? == "read_only" { SideEffect::ReadOnly } else { SideEffect::Mutating },
        network: if network? == "local" { Network::Local } else { Network::External },
        bounds,
        target,
        scope,
        preview,
        check,
        risk,
        default,
        locked: flag("locked"),
        resident: flag("resident"),
        idempotent: flag("idempotent"),
    };
    Some(Model { function, contract, parameters, support })
}

/// One error for all that is missing, at the list, or at the function's name when there is no list.
fn check_missing(written: &Written, function: &Function, sink: &mut Sink) {
    let missing: Vec<_> = KEYS.iter().filter(|key| key.required && !written.mentions(key.word)).collect();
    if missing.is_empty() {
        return;
    }
    let words: Vec<_> = missing.iter().map(|key| key.word).collect();
    let examples: Vec<_> = missing.iter().map(|key| key.example).collect();
    let at = if written.list.is_empty() { function.signature.ident.to_token_stream() } else { written.list.clone() };
    let wrong = format!("`#[capability]` lacks {}", any_of(&words).replace(" or ", " and "));
    sink.report(
        at,
        Problem::new(
            wrong,
            "a contract says what it is called, which version it is, what it does and where its data goes",
            format_args!("add `{}`", examples.join(", ")),
        ),
    );
}

/// A body and `locked` exclude each other, and one of them must be there.
fn check_body(written: &Written, function: &Function, sink: &mut Sink) {
    let name = &function.signature.ident;
    match (written.get("locked"), &function.body) {
        (Some(locked), Some(_)) => sink.report(
            &locked.key,
            Problem::new(
                "`locked` is on a function with a body",
                "what is locked never runs, so it has nothing to run",
                "remove `locked`, or write `;` in place of the body",
            ),
        ),
        // A method without a body is a trait's: that it is a method was said.
        (None, None) if !written.mentions("locked") && function.signature.receiver().is_none() => sink.report(
            name,
            Problem::new(
                "this `#[capability]` has no body",
                "only what is `locked` has nothing to run",
                "write the body in `{ .. }`, or add `locked`",
            ),
        ),
        (Some(_), None) => {
            for key in ["preview", "check"] {
                if let Some(entry) = written.get(key) {
                    let rule = "what is locked never runs, so there is nothing to prepare";
                    let help = format!("remove `{key}`");
                    sink.report(
                        &entry.key,
                        Problem::new(format_args!("`{key}` is on a `locked` capability"), rule, help),
                    );
                }
            }
        }
        (None, Some(_) | None) => {}
    }
}

/// The arguments that `target` and `scope` may name.
struct Arguments<'p, 'a> {
    parameters: &'p [Parameter<'a>],
    /// Whether every parameter was understood; if not, the one that was named may be among the others.
    complete: bool,
}

impl Arguments<'_, '_> {
    /// The property behind the argument's name.
    fn property(&self, key: &str, name: &str, at: TokenStream, sink: &mut Sink) -> Option<String> {
        let arguments: Vec<_> = self
            .parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(argument) => Some(argument),
                Parameter::Handle(_) => None,
            })
            .collect();
        let plain = |name: &str| name.strip_prefix("r#").unwrap_or(name).to_owned();
        if let Some(argument) =
            arguments.iter().find(|argument| plain(&argument.ident.to_string()) == plain(name) && !argument.whole)
        {
            return Some(argument.property.clone());
        }
        // The properties of an `#[args]` type are not ours to see; the registry looks at its schema.
        if arguments.iter().any(|argument| argument.whole) {
            return Some(plain(name));
        }
        if self.complete {
            let names: Vec<_> = arguments.iter().map(|argument| plain(&argument.ident.to_string())).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let rule = if names.is_empty() {
                "this function takes no arguments".to_owned()
            } else {
                format!("the arguments of this function are {}", any_of(&names).replace(" or ", " and "))
            };
            let help = match nearest(name, &names).or_else(|| names.first().copied()) {
                Some(meant) if key == "scope" => format!("write `scope = {meant}`"),
                Some(meant) => format!("write `{meant}` in the parentheses"),
                None => format!("add the argument, as in `{name}: String`, or remove `{key}`"),
            };
            sink.report(at, Problem::new(format_args!("`{key}` names no argument `{name}`"), rule, help));
        }
        None
    }
}

fn support(root: Option<Path>, found: fn() -> Found, function: &Function, sink: &mut Sink) -> Option<TokenStream> {
    if let Some(root) = root {
        return Some(quote!(#root));
    }
    match found() {
        Found::At(path) => {
            let path: Path = parse_quote!(#path);
            Some(path.into_token_stream())
        }
        Found::Nowhere => {
            sink.report(
                &function.signature.ident,
                Problem::new(
                    "`#[capability]` cannot find `capability-core`",
                    "it is a dependency of this package, or `crate` says which crate exports it",
                    "write `crate = ::path::of::capability_core`",
                ),
            );
            None
        }
    }
}
