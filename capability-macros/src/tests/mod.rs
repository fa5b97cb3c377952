//! The macro on tokens that tests make: what it expands to, what it never expands to, and its parts on their own.

mod expansion;
mod parts;
mod robustness;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

use crate::paths::Found;

/// Expands an annotated item, as the compiler does: the attribute's list apart, the rest as the item.
fn expand(source: TokenStream) -> TokenStream {
    let (mut attribute, mut item, mut trees) = (TokenStream::new(), TokenStream::new(), source.into_iter().peekable());
    let mut found = false;
    while let Some(tree) = trees.next() {
        let is_hash = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '#');
        match trees.peek() {
            Some(TokenTree::Group(group)) if is_hash && !found && group.delimiter() == Delimiter::Bracket => {
                let mut inner = group.stream().into_iter();
                if matches!(inner.next(), Some(TokenTree::Ident(name)) if name == "capability") {
                    found = true;
                    if let Some(TokenTree::Group(list)) = inner.next() {
                        attribute = list.stream();
                    }
                    trees.next();
                    continue;
                }
            }
            _ => {}
        }
        item.extend([tree]);
    }
    crate::define(attribute, item, || Found::At(quote!(::capability_core)))
}

/// The messages of an expansion, in order.
fn errors(expanded: &TokenStream) -> Vec<String> {
    let mut messages = Vec::new();
    let mut after_macro = false;
    for tree in expanded.clone() {
        match &tree {
            TokenTree::Group(group) if after_macro => {
                if let Ok(text) = syn::parse2::<syn::LitStr>(group.stream()) {
                    messages.push(text.value());
                }
            }
            _ => {}
        }
        after_macro = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '!');
    }
    messages
}
