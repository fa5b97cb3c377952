//! What is demanded of the author's types, each demand at the type.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{PathArguments, ReturnType, Type};

use super::{respanned, support};
use crate::model::{Model, Network, Parameter, SideEffect};

pub(super) fn of(model: &Model<'_>) -> TokenStream {
    let contract = &model.contract;
    let markers = |p: &TokenStream, ty: &Type| {
        let network = match contract.network {
            Network::Local => quote!(#p::Local),
            Network::External => quote!(#p::External),
        };
        let effect = match contract.side_effect {
            SideEffect::ReadOnly => quote!(#p::ReadOnly),
            SideEffect::Mutating => quote!(#p::Mutating),
        };
        let target = if contract.target.is_some() { quote!(#p::WithTarget) } else { quote!(#p::NoTarget) };
        let spread = |marker: &TokenStream| spread(marker, &ty.to_token_stream());
        let (network, effect, target) = (spread(&network), spread(&effect), spread(&target));
        quote!(#network, #effect, #target)
    };
    let (p, root) = (support(), &model.support);
    // In full: of a path of two words the compiler underlines the first or the last as it comes, and calls them two places.
    let whole = quote!(#root::__private);
    let mut earlier: Vec<TokenStream> = Vec::new();
    let each = model.parameters.iter().map(|parameter| match parameter {
        Parameter::Handle(handle) => {
            let (ty, conditions) = (handle.ty, &handle.conditions);
            let span = ty.span();
            // What demands begins and ends where the type does: whichever of them the compiler points at, it is one place
            // and one error.
            let (head, markers) = (spread(&quote!(#whole::handle), &ty.to_token_stream()), markers(&whole, ty));
            // Types that are written alike were compared before; these are told apart by what they lend.
            let other = (!earlier.is_empty()).then(|| {
                let head = respanned(&quote!(#p::other_kind), span);
                quote_spanned!(span=> #(#conditions)* #head::<#ty>(&[#(#earlier),*]);)
            });
            earlier.push(quote!(#(#conditions)* <#ty as #p::Handle>::KIND));
            quote_spanned!(span=> #(#conditions)* #head::<#markers, #ty>(); #other)
        }
        Parameter::Argument(argument) => {
            let (ty, conditions) = (argument.ty, &argument.conditions);
            let head = respanned(&quote!(#p::argument), ty.span());
            let object = argument.whole.then(|| {
                let (p, span) = (respanned(&p, ty.span()), ty.span());
                quote_spanned!(span=> use #p::Object as _; #p::object(<#p::Whole<#ty>>::OBJECT, <#p::Whole<#ty>>::ASKED);)
            });
            quote_spanned!(ty.span()=> #(#conditions)* #head::<#ty>(); #object)
        }
    });
    quote!(#(#each)*)
}

/// The tokens to underline for the answer and for the error: the two parameters of a type that has two, as `Result` does,
/// and the whole type otherwise. Only where to point is read from the spelling; what they are is for the compiler to say.
pub(super) fn result_parts(model: &Model<'_>) -> (TokenStream, TokenStream) {
    let ReturnType::Type(_, ty) = &model.function.signature.output else {
        let name = model.function.signature.ident.to_token_stream();
        return (name.clone(), name);
    };
    if let Type::Path(path) = &**ty
        && let Some(PathArguments::AngleBracketed(list)) = path.path.segments.last().map(|segment| &segment.arguments)
    {
        let mut list = list.args.iter();
        if let (Some(answer), Some(error), None) = (list.next(), list.next(), list.next()) {
            return (answer.to_token_stream(), error.to_token_stream());
        }
    }
    (ty.to_token_stream(), ty.to_token_stream())
}

/// The spans of the first and the last of the author's tokens.
fn ends(at: &TokenStream) -> (Span, Span) {
    let first = at.clone().into_iter().next().map_or_else(Span::call_site, |tree| tree.span());
    let last = at.clone().into_iter().last().map_or_else(Span::call_site, |tree| tree.span());
    (first, last)
}

/// The same tokens, from where the author's tokens `at` begin to where they end.
fn spread(tokens: &TokenStream, at: &TokenStream) -> TokenStream {
    let (first, last) = ends(at);
    let mut spread = respanned(tokens, last).into_iter();
    let head = spread.next().map(|mut tree| {
        tree.set_span(first);
        tree
    });
    head.into_iter().chain(spread).collect()
}

/// Calls `head` with what becomes of the result, in an expression that begins and ends where the tokens `at` do, so that an
/// error underlines all of them.
pub(super) fn demand(
    head: &TokenStream,
    p: &TokenStream,
    result: &TokenStream,
    at: &TokenStream,
    rest: &TokenStream,
) -> TokenStream {
    let (first, last) = ends(at);
    let (head, p) = (respanned(head, first), respanned(p, first));
    let end = quote_spanned!(last=> ());
    let value = quote_spanned!(first=> #p::Returned::<#result>::new().answering #end);
    quote_spanned!(first=> #head(#value #rest))
}
