//! A model as tokens. Nothing here can fail.
//!
//! Everything that demands a trait of an author's type stands in one body, the initialiser of the entry: there the compiler
//! reports what is missing once, at the assertion that carries the author's own span, and takes the rest as said.

mod arguments;
mod body;
mod definition;
mod demands;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Ident, ReturnType};

use crate::model::Model;
use crate::{attributes, section};

pub fn expand(model: &Model<'_>) -> TokenStream {
    let function = model.function;
    let emitted = function.body.as_ref().filter(|_| !model.contract.locked);
    let emitted = emitted.map(|body| function.emitted(body, &section::of(model)));
    let conditions = attributes::conditions(&function.attributes);
    // Callers of a deprecated function are warned; that the registry calls it is no news to anybody.
    let deprecated = function.attributes.iter().any(|attribute| attribute.path().is_ident("deprecated"));
    let called = (deprecated && emitted.is_some())
        .then(|| quote!(#[expect(deprecated, reason = "the registry calls what its callers are warned of")]));
    let (p, root) = (support(), &model.support);
    let (arguments, lender, entry) = (arguments::of(model), body::lender(model), entry(model));
    quote! {
        #emitted

        #(#conditions)*
        #called
        const _: () = {
            use #root::__private as #p;
            #arguments
            #lender
            #[#p::linkme::distributed_slice(#p::CAPABILITIES)]
            #[linkme(crate = #p::linkme)]
            static __ENTRY: #p::Capability = { #entry };
        };
    }
}

/// The short name of what generated code stands on. The whole path is written once: each of its tokens costs every build.
fn support() -> TokenStream {
    quote!(__s)
}

/// The initialiser of the entry: assertions at the author's types, then the definition.
fn entry(model: &Model<'_>) -> TokenStream {
    let p = support();
    let assertions = demands::of(model);
    let definition = definition::of(model);
    quote!(#assertions #p::Capability::define(#definition))
}

/// The same tokens, all at one of the author's spans: an error there needs no note about a macro.
fn respanned(tokens: &TokenStream, span: Span) -> TokenStream {
    tokens
        .clone()
        .into_iter()
        .map(|mut tree| {
            if let TokenTree::Group(group) = &tree {
                tree = TokenTree::Group(Group::new(group.delimiter(), respanned(&group.stream(), span)));
            }
            tree.set_span(span);
            tree
        })
        .collect()
}

/// The author's result type.
fn result_type(model: &Model<'_>) -> TokenStream {
    match &model.function.signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => ty.to_token_stream(),
    }
}

/// A local for the parameter at a position. Like every name in generated code it begins with two underscores, so that it
/// meets none of the author's.
fn local(at: usize) -> Ident {
    format_ident!("__p{at}")
}
