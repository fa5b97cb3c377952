//! What is left when something is wrong: the function for its callers, the errors, and no registry entry.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, Pat, parse_quote};

use crate::diagnostics::Sink;
use crate::parameters;
use crate::signature::Function;

/// A function with mistakes.
pub fn of_function(function: &Function, sink: Sink) -> TokenStream {
    // Without a body, or with an open list of arguments or one without a size, the compiler would report the function a second time.
    let names = function.signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pat) => Some(&pat.ident),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    // The parameters are named, so that nobody is told that they are unused, too.
    let stub = quote!({ #(let _ = &#names;)* loop {} });
    let body = function.body.as_ref().unwrap_or(&stub);
    let has_no_size = |input: &FnArg| matches!(input, FnArg::Typed(typed) if parameters::is_unsized(&typed.ty));
    let emitted = if function.signature.variadic.is_some() || function.signature.inputs.iter().any(has_no_size) {
        let mut closed = Function {
            attributes: function.attributes.clone(),
            visibility: function.visibility.clone(),
            signature: function.signature.clone(),
            body: None,
        };
        closed.signature.variadic = None;
        for input in &mut closed.signature.inputs {
            match input {
                FnArg::Typed(typed) if parameters::is_unsized(&typed.ty) => {
                    let ty = &typed.ty;
                    *typed.ty = parse_quote!(::std::boxed::Box<#ty>);
                }
                FnArg::Typed(_) | FnArg::Receiver(_) => {}
            }
        }
        closed.emitted(&stub, &TokenStream::new())
    } else {
        function.emitted(body, &TokenStream::new())
    };
    let errors = sink.into_tokens();
    quote!(#emitted #errors)
}

/// Something that is no function: left as it is, but for attributes that do not exist.
pub fn of_other(item: TokenStream, sink: Sink) -> TokenStream {
    let errors = sink.into_tokens();
    let item = without_confirmations(item);
    quote!(#item #errors)
}

fn without_confirmations(item: TokenStream) -> TokenStream {
    use proc_macro2::{Delimiter, Group, TokenTree};
    let mut kept: Vec<TokenTree> = Vec::new();
    for tree in item {
        match tree {
            TokenTree::Group(group) => {
                let behind_hash = matches!(kept.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
                let refused = behind_hash
                    && group.delimiter() == Delimiter::Bracket
                    && crate::args::items(group.stream())
                        .iter()
                        .any(|item| crate::refusal::is_confirmation(&item.word));
                if refused {
                    kept.pop();
                    continue;
                }
                let mut inner = Group::new(group.delimiter(), without_confirmations(group.stream()));
                inner.set_span(group.span());
                kept.push(TokenTree::Group(inner));
            }
            other @ (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => kept.push(other),
        }
    }
    kept.into_iter().collect()
}
