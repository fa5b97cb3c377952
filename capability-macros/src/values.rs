//! The values behind the keys, each against its own rule.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Lit, LitStr, Path};

use crate::args::Entry;
use crate::diagnostics::{Problem, Sink, any_of, nearest};
use crate::keys;
use crate::{name, paths};

/// A value's single literal, whether or not a macro wrapped it into an invisible group.
pub fn literal(value: &TokenStream) -> Option<Lit> {
    let mut trees = value.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == proc_macro2::Delimiter::None => {
            literal(&group.stream())
        }
        (Some(TokenTree::Literal(_)), None) => syn::parse2(value.clone()).ok(),
        _ => None,
    }
}

/// A value's single word.
fn word(value: &TokenStream) -> Option<String> {
    let mut trees = value.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == proc_macro2::Delimiter::None => {
            word(&group.stream())
        }
        (Some(TokenTree::Ident(ident)), None) => Some(ident.to_string()),
        _ => None,
    }
}

pub fn name(entry: &Entry, sink: &mut Sink) -> Option<LitStr> {
    let text = match literal(&entry.value) {
        Some(Lit::Str(text)) => text,
        other => {
            let wrong = if other.is_some() { "`name` is not text" } else { "`name` is not a literal" };
            let rule = "a name is text in quotes, because duplicates are looked for in the source";
            sink.report(&entry.value, Problem::new(wrong, rule, "write `name = \"web.search\"`"));
            return None;
        }
    };
    let written = text.value();
    if let Some((wrong, rule)) = name::fault(&written) {
        let help = format!("write `name = \"{}\"`", name::repaired(&written));
        sink.report(&text, Problem::new(format_args!("`name` {wrong}"), rule, help));
        return None;
    }
    Some(text)
}

pub fn version(entry: &Entry, sink: &mut Sink) -> Option<u32> {
    let fault = match literal(&entry.value) {
        Some(Lit::Int(number)) if !number.suffix().is_empty() => "has a suffix",
        Some(Lit::Int(number)) => match number.base10_parse::<u32>() {
            Ok(0) => "is zero",
            Ok(version) => return Some(version),
            Err(_) => "is too large",
        },
        Some(Lit::Str(_)) => "is text",
        Some(Lit::Float(_)) => "is a fraction",
        Some(_) => "is not a number",
        None if paths::text(&entry.value).starts_with('-') => "is negative",
        None => "is not a literal",
    };
    let rule = "a version is a whole number from 1 to 4294967295, written out";
    sink.report(&entry.value, Problem::new(format_args!("`version` {fault}"), rule, "write `version = 1`"));
    None
}

pub fn title(entry: &Entry, sink: &mut Sink) -> Option<LitStr> {
    let fault = match literal(&entry.value) {
        Some(Lit::Str(text)) if text.value().trim().is_empty() => "is empty",
        Some(Lit::Str(text)) if text.value().contains(char::is_control) => "has more than one line",
        Some(Lit::Str(text)) => return Some(text),
        Some(_) | None => "is not a literal",
    };
    let rule = "a title is one short line of text in quotes";
    sink.report(
        &entry.value,
        Problem::new(format_args!("`title` {fault}"), rule, "write `title = \"Search the web\"`, or remove `title`"),
    );
    None
}

/// One word out of a fixed set.
pub fn choice(entry: &Entry, words: &'static [&'static str], sink: &mut Sink) -> Option<&'static str> {
    choice_before(entry, words, "", sink)
}

/// The same, when `rest` follows the word.
fn choice_before(entry: &Entry, words: &'static [&'static str], rest: &str, sink: &mut Sink) -> Option<&'static str> {
    let key = entry.word;
    let written = word(&entry.value);
    if let Some(known) = written.as_deref().and_then(|written| words.iter().find(|known| **known == written)) {
        return Some(known);
    }
    let example = words.first().copied().unwrap_or_default();
    if let Some(Lit::Str(text)) = literal(&entry.value)
        && words.contains(&text.value().as_str())
    {
        let help = format!("write `{key} = {}{rest}`", text.value());
        sink.report(
            &entry.value,
            Problem::new(format_args!("`{key}` is text"), "its value is a word without quotes", help),
        );
        return None;
    }
    let text = written.unwrap_or_else(|| paths::text(&entry.value));
    if key == "default" && ["allow", "automatic", "auto", "yes"].contains(&text.trim_matches('"')) {
        let rule = "an author may raise what policy starts from, and only an operator may lower it";
        let help = "write `default = ask` or `default = deny`, or remove `default`";
        sink.report(
            &entry.value,
            Problem::new(format_args!("`default = {text}` is not for an author to say"), rule, help),
        );
        return None;
    }
    // A path, as in `Network::Local`, means its last part.
    let last = text.rsplit("::").next().unwrap_or(&text);
    let help = match (nearest(last, words).or_else(|| synonym(last, words)), words) {
        (Some(meant), _) => format!("write `{key} = {meant}{rest}`"),
        // Which of two it is decides what is asked of a person: not for a guess.
        (None, [one, other]) => format!("write `{key} = {one}{rest}` or `{key} = {other}{rest}`"),
        (None, _) => format!("write `{key} = {example}{rest}`"),
    };
    let wrong = format!("`{key}` has no value `{}`", text.trim_matches('"'));
    sink.report(&entry.value, Problem::new(wrong, format_args!("it is {}", any_of(words)), help));
    None
}

/// Words that other systems use for the same thing.
fn synonym(written: &str, words: &[&'static str]) -> Option<&'static str> {
    const SYNONYMS: &[(&str, &str)] = &[
        ("none", "read_only"),
        ("read", "read_only"),
        ("readonly", "read_only"),
        ("pure", "read_only"),
        ("write", "mutating"),
        ("destructive", "mutating"),
        ("mutable", "mutating"),
        ("true", "mutating"),
        ("false", "read_only"),
        ("true", "external"),
        ("false", "local"),
        ("http", "external"),
        ("https", "external"),
        ("web", "external"),
        ("internet", "external"),
        ("remote", "external"),
        ("lan", "external"),
        ("public", "external"),
        ("offline", "local"),
        ("none", "local"),
        ("device", "local"),
        ("severe", "critical"),
        ("block", "deny"),
        ("refuse", "deny"),
        ("prompt", "ask"),
        ("uri", "url"),
        ("file", "path"),
        ("domain", "host"),
        ("repo", "repository"),
        ("email", "address"),
        ("command", "argv"),
        ("string", "text"),
    ];
    let written = written.trim_matches('"').to_lowercase();
    SYNONYMS
        .iter()
        .filter(|(from, _)| *from == written)
        .find_map(|(_, to)| words.iter().find(|word| *word == to))
        .copied()
}

pub fn path(entry: &Entry, sink: &mut Sink) -> Option<Path> {
    if let Ok(path) = syn::parse2::<Path>(entry.value.clone()) {
        return Some(path);
    }
    let key = entry.word;
    let rule = "its value is the path of a function, without quotes and without a call";
    let rule = if key == "crate" { "its value is a path, without quotes" } else { rule };
    let help = match literal(&entry.value) {
        Some(Lit::Str(text)) if syn::parse_str::<Path>(&text.value()).is_ok() => {
            format!("write `{key} = {}`", text.value())
        }
        _ => match keys::KEYS.iter().find(|known| known.word == key) {
            Some(known) => format!("write `{}`", known.example),
            None => format!("remove `{key}`"),
        },
    };
    sink.report(&entry.value, Problem::new(format_args!("`{key}` is not a path"), rule, help));
    None
}

/// The name of an argument.
pub fn argument_name(entry: &Entry, sink: &mut Sink) -> Option<(String, TokenStream)> {
    if let Some(name) = word(&entry.value) {
        return Some((name, entry.value.clone()));
    }
    let key = entry.word;
    let help = match literal(&entry.value) {
        Some(Lit::Str(text)) => format!("write `{key} = {}`", text.value()),
        _ => format!("write `{key} = query`, naming one of the arguments"),
    };
    sink.report(
        &entry.value,
        Problem::new(format_args!("`{key}` names no argument"), "its value is the name of one, without quotes", help),
    );
    None
}

pub const TARGETS: &[&str] = &["url", "path", "host", "service", "repository", "address", "argv", "text", "none"];

/// What a `target` says: its kind, and the argument where there is one.
pub fn target(entry: &Entry, sink: &mut Sink) -> Option<(&'static str, Option<(String, TokenStream)>)> {
    let mut trees = entry.value.clone().into_iter();
    let kind: TokenStream = trees.next().into_iter().collect();
    let rest: TokenStream = trees.collect();
    let head = Entry { word: "target", key: entry.key.clone(), value: kind };
    // A word that is no kind may be the argument: then it belongs into the parentheses.
    let behind = match word(&head.value) {
        Some(argument)
            if rest.is_empty() && nearest(&argument, TARGETS).or_else(|| synonym(&argument, TARGETS)).is_none() =>
        {
            format!("({argument})")
        }
        _ if rest.is_empty() => "(url)".to_owned(),
        _ => paths::text(&rest),
    };
    let kind = choice_before(&head, TARGETS, &behind, sink)?;
    if kind == "none" {
        if rest.is_empty() {
            return Some((kind, None));
        }
        let rule = "`none` says that there is nothing in particular to name";
        sink.report(&rest, Problem::new("`target = none` names an argument", rule, "write `target = none`"));
        return None;
    }
    let argument = match rest.clone().into_iter().next() {
        Some(TokenTree::Group(group)) => word(&group.stream()).map(|name| (name, group.stream())),
        Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => None,
    };
    if argument.is_none() {
        let at = if rest.is_empty() { head.value } else { rest };
        let rule = "a kind is followed by the one argument that names the target";
        let help = format!("write `target = {kind}({kind})`, with the name of the argument in the parentheses");
        sink.report(at, Problem::new(format_args!("`target = {kind}` names no argument"), rule, help));
        return None;
    }
    Some((kind, argument))
}
