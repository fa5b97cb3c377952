//! The closed struct of the arguments, and taking it apart.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Ident;

use super::{local, support};
use crate::model::{Argument, Model, Parameter};
use crate::paths;

/// The closed struct of the arguments. Its fields are typed by its parameters, so that deriving demands nothing yet.
pub(super) fn of(model: &Model<'_>) -> TokenStream {
    if model.whole().is_some() {
        return TokenStream::new();
    }
    let p = support();
    let serde = paths::text(&quote!(#p::serde));
    let schemars = paths::text(&quote!(#p::schemars));
    let parameters: Vec<_> = generic(model).map(|(at, _)| type_parameter(at)).collect();
    let fields = model.arguments().enumerate().map(|(at, argument)| {
        let (attributes, ident) = (&argument.attributes, argument.ident);
        let ty = if argument.concrete { argument.ty.to_token_stream() } else { type_parameter(at).into_token_stream() };
        quote!(#attributes #ident: #ty)
    });
    quote! {
        use #p::scope::*;
        const _: () = __SCOPE;
        #[derive(#p::serde::Deserialize, #p::schemars::JsonSchema)]
        #[serde(crate = #serde, deny_unknown_fields)]
        #[schemars(crate = #schemars, rename = "Arguments")]
        struct __Arguments<#(#parameters),*> { #(#fields),* }
    }
}

/// The arguments whose fields are typed by a parameter, with their positions.
fn generic<'m>(model: &'m Model<'_>) -> impl Iterator<Item = (usize, &'m Argument<'m>)> {
    model.arguments().enumerate().filter(|(_, argument)| !argument.concrete)
}

fn type_parameter(at: usize) -> Ident {
    format_ident!("__A{at}")
}

/// The arguments' type with everything filled in.
pub(super) fn full_type(model: &Model<'_>) -> TokenStream {
    if let Some(whole) = model.whole() {
        return whole.ty.to_token_stream();
    }
    let types = generic(model).map(|(_, argument)| argument.ty);
    quote!(__Arguments<#(#types),*>)
}

/// The local of the argument at a position among the arguments.
pub(super) fn local_of(model: &Model<'_>, wanted: usize) -> Ident {
    let positions =
        model.parameters.iter().enumerate().filter(|(_, parameter)| matches!(parameter, Parameter::Argument(_)));
    local(positions.map(|(at, _)| at).nth(wanted).unwrap_or(wanted))
}

/// Takes the arguments apart into locals.
pub(super) fn taken(model: &Model<'_>) -> TokenStream {
    if model.whole().is_some() {
        let local = local_of(model, 0);
        return quote!(let #local = __arguments;);
    }
    let fields = model.arguments().enumerate().map(|(at, argument)| {
        let (conditions, ident, local) = (&argument.conditions, argument.ident, local_of(model, at));
        quote!(#(#conditions)* #ident: #local)
    });
    quote!(let __Arguments { #(#fields),* } = __arguments;)
}
