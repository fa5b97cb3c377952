//! Documentation comments as descriptions.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::diagnostics::{Problem, Sink};

/// One `#[doc = ..]`.
enum Doc {
    Text(String),
    /// `include_str!(..)`, `concat!(..)` and other macros, which the compiler and not we can evaluate.
    Macro(TokenStream),
    /// `#[doc(hidden)]` and the like.
    Other,
    /// Neither a literal nor a macro.
    Unreadable(TokenStream),
}

fn doc(attribute: &Attribute) -> Doc {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => value(&pair.value),
        Meta::NameValue(_) | Meta::List(_) | Meta::Path(_) => Doc::Other,
    }
}

fn value(value: &Expr) -> Doc {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Doc::Text(text.value()),
        Expr::Macro(call) => Doc::Macro(call.to_token_stream()),
        Expr::Group(group) => self::value(&group.expr),
        other => Doc::Unreadable(other.to_token_stream()),
    }
}

/// Whether a doc attribute cannot be read by anybody, the compiler included.
pub fn is_unreadable(attribute: &Attribute) -> bool {
    matches!(doc(attribute), Doc::Unreadable(_))
}

/// Reports such an attribute.
pub fn report(attribute: &Attribute, sink: &mut Sink) {
    if let Doc::Unreadable(value) = doc(attribute) {
        sink.report(
            value,
            Problem::new(
                "`#[doc = ..]` is neither text nor a macro",
                "a description is fixed before constants have values",
                "write the text as `/// ..`, or use `#[doc = include_str!(\"file.md\")]` or `#[doc = concat!(\"..\", \"..\")]`",
            ),
        );
    }
}

/// An expression for the description of these attributes, wherever other attributes stand between them; empty text when
/// there is none.
pub fn of(attributes: &[Attribute]) -> TokenStream {
    let mut parts: Vec<TokenStream> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let flush = |lines: &mut Vec<String>, parts: &mut Vec<TokenStream>| {
        let text = joined(&core::mem::take(lines));
        if !text.is_empty() {
            parts.push(quote!(#text));
        }
    };
    for attribute in attributes {
        match doc(attribute) {
            Doc::Text(text) => lines.extend(text.split('\n').map(str::to_owned)),
            Doc::Macro(call) => {
                flush(&mut lines, &mut parts);
                parts.push(call);
            }
            Doc::Other | Doc::Unreadable(_) => {}
        }
    }
    flush(&mut lines, &mut parts);
    match parts.as_slice() {
        [] => quote!(""),
        [only] if parts.len() == 1 => only.clone(),
        [first, rest @ ..] => quote!(::core::concat!(#first, #("\n\n", #rest),*)),
    }
}

/// The doc attributes of a parameter, for its generated field: literal text joined, macros as they are.
pub fn of_field(attributes: &[Attribute]) -> TokenStream {
    let mut lines = Vec::new();
    let mut macros = TokenStream::new();
    for attribute in attributes {
        match doc(attribute) {
            Doc::Text(text) => lines.extend(text.split('\n').map(str::to_owned)),
            Doc::Macro(call) => macros.extend(quote!(#[doc = #call])),
            Doc::Other | Doc::Unreadable(_) => {}
        }
    }
    let text = joined(&lines);
    if text.is_empty() { macros } else { quote!(#[doc = #text] #macros) }
}

/// The first paragraph of what literal documentation says.
pub fn summary(attributes: &[Attribute]) -> String {
    let text = attributes.iter().filter_map(|attribute| match doc(attribute) {
        Doc::Text(text) => Some(text),
        Doc::Macro(_) | Doc::Other | Doc::Unreadable(_) => None,
    });
    let lines: Vec<String> = text.flat_map(|text| text.split('\n').map(str::to_owned).collect::<Vec<_>>()).collect();
    let joined = joined(&lines);
    joined.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

/// Joins soft line breaks as rustdoc shows them; paragraphs, lists, tables, headings and code keep their lines.
pub fn joined(lines: &[String]) -> String {
    let margin = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min().unwrap_or(0);
    let mut text = String::new();
    let mut in_code = false;
    let mut soft = false;
    for line in lines {
        let line = line.chars().skip(margin.min(indent(line))).collect::<String>();
        let line = line.trim_end();
        let fence = line.trim_start().starts_with("```");
        let keeps_its_line = in_code || fence || starts_a_block(line);
        if line.is_empty() && !in_code {
            soft = false;
            if !text.is_empty() && !text.ends_with("\n\n") {
                text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
            }
            continue;
        }
        if soft && !keeps_its_line {
            text.push(' ');
            text.push_str(line.trim_start());
        } else {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(line);
        }
        in_code ^= fence;
        soft = !in_code && !fence && !line.starts_with(['#', '|']);
        if !soft {
            text.push('\n');
        }
    }
    text.trim_end().to_owned()
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

/// Whether Markdown gives this line a line of its own.
fn starts_a_block(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "))
    };
    line.starts_with(['#', '|', '>']) || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark)) || numbered()
}
