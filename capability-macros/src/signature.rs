//! The annotated function: its head is parsed, its body is left alone.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Signature, Token, Visibility};

use crate::args::Written;
use crate::attributes;
use crate::diagnostics::{Problem, Sink};
use crate::refusal;

/// A function as it was written, minus the attributes that are meant for the macro.
pub struct Function {
    /// Its own attributes, as they were.
    pub attributes: Vec<Attribute>,
    pub visibility: Visibility,
    pub signature: Signature,
    /// Absent when it ends in a semicolon.
    pub body: Option<TokenStream>,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        let body = if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            None
        } else {
            Some(input.parse()?)
        };
        Ok(Self { attributes, visibility, signature, body })
    }
}

impl Function {
    /// The function for its callers: every token the author's, without what only the macro understands.
    pub fn emitted(&self, body: &TokenStream, section: &TokenStream) -> TokenStream {
        let attributes = self.attributes.iter().filter(|attribute| !attributes::is_for_the_macro(attribute));
        let visibility = &self.visibility;
        let mut signature = self.signature.clone();
        for input in &mut signature.inputs {
            match input {
                FnArg::Typed(typed) => typed.attrs.retain(attributes::stays_on_parameter),
                FnArg::Receiver(receiver) => receiver.attrs.retain(attributes::stays_on_parameter),
            }
        }
        quote!(#(#attributes)* #section #visibility #signature #body)
    }
}

/// Reads the item below the attribute; anything but a function is reported.
pub fn read(item: &TokenStream, written: &Written, sink: &mut Sink) -> Option<Function> {
    if let Ok(function) = syn::parse2::<Function>(item.clone()) {
        for attribute in &function.attributes {
            report_attribute(attribute, sink);
        }
        return Some(function);
    }
    let confirmations = sink.len();
    report_confirmations(item, sink);
    // A confirmation on a struct is one mistake; that it stands on a struct goes without saying.
    if sink.len() > confirmations || mentions_confirmation(written) {
        return None;
    }
    if is_a_function(item) {
        sink.report(
            item_name(item),
            Problem::new(
                "`#[capability]` cannot read this function",
                "what the compiler cannot parse has no signature",
                "mend what the compiler reports here; a keyword becomes a name as in `r#type: String`",
            ),
        );
        return None;
    }
    let (keyword, name) = kind_of(item);
    sink.report(
        name.map_or_else(|| item.clone(), ToTokens::into_token_stream),
        Problem::new(
            format_args!("`#[capability]` is on {keyword}"),
            "a capability is a function outside of any `impl` or `trait`",
            "move it to the function that does the work, as in `#[capability(..)] async fn search(query: String) -> Found`",
        ),
    );
    None
}

fn report_attribute(attribute: &Attribute, sink: &mut Sink) {
    let path = attribute.path();
    let word = crate::paths::text(&path.to_token_stream());
    let last = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    if path.segments.iter().any(|segment| refusal::is_confirmation(&segment.ident.to_string())) {
        refusal::report(path, &word, sink);
    } else if let Some(hidden) = attributes::conditional_confirmation(attribute) {
        refusal::report(&hidden.key, &hidden.word, sink);
    } else if last == "capability" {
        sink.report(
            path,
            Problem::new(
                "a second `#[capability]` on one function",
                "a function is one capability in one version",
                "remove this `#[capability(..)]`; a second version is a second function",
            ),
        );
    } else if attributes::is_entry_point(attribute) {
        sink.report(
            path,
            Problem::new(
                format_args!("`#[{word}]` is on a `#[capability]`"),
                "the registry calls it, with arguments and in a runtime of its own",
                format_args!("remove `#[{word}]`, and write it on a function that calls this one"),
            ),
        );
    } else if last == "doc" {
        crate::description::report(attribute, sink);
    }
}

/// Attributes and fields of something that is no function.
fn report_confirmations(item: &TokenStream, sink: &mut Sink) {
    let mut hash = false;
    let mut trees = item.clone().into_iter().peekable();
    while let Some(tree) = trees.next() {
        match &tree {
            TokenTree::Group(group) if hash && group.delimiter() == proc_macro2::Delimiter::Bracket => {
                for item in crate::args::items(group.stream()) {
                    if refusal::is_confirmation(&item.word) {
                        refusal::report(&item.key, &item.word, sink);
                    }
                }
            }
            TokenTree::Group(group) => report_confirmations(&group.stream(), sink),
            TokenTree::Ident(ident) => {
                let is_field = matches!(trees.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':' && next.spacing() == proc_macro2::Spacing::Alone);
                if is_field && refusal::is_confirmation(&ident.to_string()) {
                    refusal::report(ident, &ident.to_string(), sink);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        hash = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '#');
    }
}

fn mentions_confirmation(written: &Written) -> bool {
    crate::args::items(written.list.clone()).iter().any(|item| refusal::is_confirmation(&item.word))
}

/// Whether something that could not be parsed begins like a function.
fn is_a_function(item: &TokenStream) -> bool {
    const BEFORE: &[&str] = &["pub", "const", "async", "safe", "unsafe", "extern", "default"];
    let word = |tree: TokenTree| match tree {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    };
    let mut words = item.clone().into_iter().filter_map(word).skip_while(|word| BEFORE.contains(&word.as_str()));
    words.next().is_some_and(|word| word == "fn")
}

/// The word behind `fn`.
fn item_name(item: &TokenStream) -> TokenStream {
    let is_fn = |tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == "fn");
    item.clone().into_iter().skip_while(|tree| !is_fn(tree)).nth(1).map_or_else(|| item.clone(), Into::into)
}

/// What an item is, in words, and the token to underline: its keyword.
fn kind_of(item: &TokenStream) -> (&'static str, Option<TokenTree>) {
    for tree in item.clone() {
        if let TokenTree::Ident(ident) = &tree {
            let words = match ident.to_string().as_str() {
                "struct" => "a struct",
                "enum" => "an enum",
                "union" => "a union",
                "trait" => "a trait",
                "impl" => "an `impl` block",
                "mod" => "a module",
                "type" => "a type alias",
                "static" => "a static",
                "const" => "a constant",
                "use" => "a `use`",
                "macro_rules" => "a macro",
                _ => continue,
            };
            return (words, Some(tree));
        }
    }
    ("something that is no function", item.clone().into_iter().next())
}
