//! The code behind an entry: schemas, the call, `check` and `preview`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::arguments::{full_type, local_of, taken};
use super::demands::{demand, result_parts};
use super::{local, respanned, result_type, support};
use crate::model::{Argument, Model, Parameter};

/// For an async function: a helper whose signature says that the future may move between threads. What keeps it from that is
/// then reported here, at the function's name, with notes that point into its body.
pub(super) fn lender(model: &Model<'_>) -> TokenStream {
    let signature = &model.function.signature;
    if signature.asyncness.is_none() || model.contract.locked {
        return TokenStream::new();
    }
    let mut parameters = Vec::new();
    let mut values = Vec::new();
    for (at, parameter) in model.parameters.iter().enumerate() {
        let local = local(at);
        let declared = respanned(&quote!(#local), signature.ident.span());
        let (conditions, parameter) = match parameter {
            Parameter::Handle(handle) => {
                let ty = handle.ty;
                (&handle.conditions, quote!(#declared: &'__call #ty))
            }
            Parameter::Argument(argument) => {
                let ty = argument.ty;
                (&argument.conditions, quote!(#declared: #ty))
            }
        };
        parameters.push(quote!(#(#conditions)* #parameter));
        values.push(quote!(#(#conditions)* #local));
    }
    let lifetime = model.handles().next().map(|_| quote!('__call));
    let outlives = lifetime.as_ref().map(|lifetime| quote!(+ #lifetime));
    let (name, result) = (&signature.ident, result_type(model));
    let span = name.span();
    let values = respanned(&quote!(#(#values),*), span);
    quote_spanned! {span=>
        fn __call<#lifetime>(#(#parameters),*) -> impl ::core::future::Future<Output = #result> + ::core::marker::Send #outlives {
            #name(#values)
        }
    }
}

/// The erased code behind the entry.
pub(super) fn code(model: &Model<'_>) -> TokenStream {
    let p = support();
    let (arguments, result) = (full_type(model), result_type(model));
    // The demands on the result stand here, at the author's types, because they take a call that constants cannot make.
    let (answer, error) = result_parts(model);
    let answer = demand(&quote!(#p::answer_schema), &p, &result, &answer, &quote!(, __generator));
    let error = demand(&quote!(#p::error), &p, &result, &error, &TokenStream::new());
    let schemas = quote! {
        |__generator| #p::Parsing::<#arguments>::new().schema(__generator),
        |__generator| { #error; #answer }
    };
    let (taken, values) = (taken(model), values(model));
    if model.contract.locked {
        let read = model.arguments().enumerate().map(|(at, argument)| {
            let (conditions, local) = (&argument.conditions, local_of(model, at));
            quote!(#(#conditions)* #p::ignore(#local);)
        });
        return quote!(#p::Code::locked::<#arguments>(#schemas, |__arguments| { #taken #(#read)* }));
    }
    let lent = lent(model);
    let name = &model.function.signature.ident;
    let finished = |returned: TokenStream| {
        quote! {
            #taken
            #lent
            let __returned = #returned;
            #p::Returned::<#result>::new().answering().finish(__returned, &__lease)
        }
    };
    // What is no future runs where it is called: nothing is kept for it to go on with.
    let run = match model.function.signature.asyncness {
        Some(_) => {
            let body = finished(quote!(__call(#(#values),*).await));
            quote!(#p::Run::Later(|__arguments, __lease| #p::boxed(async move { #body })))
        }
        None => {
            let body = finished(quote!(#name(#(#values),*)));
            quote!(#p::Run::Now(|__arguments, __lease| { #body }))
        }
    };
    let (check, preview) = (check(model), preview(model));
    let prepare = if preview.is_some() { quote!(prepare_showing) } else { quote!(prepare) };
    quote! {
        #p::Code::of(#schemas, |__bytes| #p::Parsing::<#arguments>::new().#prepare(__bytes, #p::Body {
            check: #check,
            run: #run,
        } #preview))
    }
}

/// Lends the handles into locals.
fn lent(model: &Model<'_>) -> TokenStream {
    let p = support();
    model
        .parameters
        .iter()
        .enumerate()
        .filter_map(|(at, parameter)| match parameter {
            Parameter::Handle(handle) => {
                let (conditions, ty, local) = (&handle.conditions, handle.ty, local(at));
                Some(quote!(#(#conditions)* let #local = <#ty as #p::Handle>::lend(&__lease);))
            }
            Parameter::Argument(_) => None,
        })
        .collect()
}

/// The values of the call, in the order of the parameters.
fn values(model: &Model<'_>) -> Vec<TokenStream> {
    let of = |(at, parameter): (usize, &Parameter<'_>)| {
        let local = local(at);
        match parameter {
            Parameter::Handle(handle) => {
                let conditions = &handle.conditions;
                quote!(#(#conditions)* &#local)
            }
            Parameter::Argument(argument) => {
                let conditions = &argument.conditions;
                quote!(#(#conditions)* #local)
            }
        }
    };
    model.parameters.iter().enumerate().map(of).collect()
}

/// A borrow of each argument, out of `__arguments`, a borrow itself.
fn borrows(model: &Model<'_>) -> Vec<TokenStream> {
    if model.whole().is_some() {
        return vec![quote!(__arguments)];
    }
    let of = |argument: &Argument<'_>| {
        let (conditions, ident) = (&argument.conditions, argument.ident);
        quote!(#(#conditions)* &__arguments.#ident)
    };
    model.arguments().map(of).collect()
}

fn check(model: &Model<'_>) -> TokenStream {
    let p = support();
    let Some(check) = &model.contract.check else { return quote!(#p::unchecked) };
    let borrows = borrows(model);
    let call = called(&quote!(#p::checked), check, &borrows);
    quote!(|__arguments| #call)
}

/// Calls an author's function inside `head`, with everything around it at the function's path.
fn called(head: &TokenStream, path: &Path, values: &[TokenStream]) -> TokenStream {
    let span = path.span();
    let (head, values) = (respanned(head, span), respanned(&quote!(#(#values),*), span));
    quote_spanned!(span=> #head(#path(#values)))
}

/// What is handed on besides when there is a preview.
fn preview(model: &Model<'_>) -> Option<TokenStream> {
    let p = support();
    let preview = model.contract.preview.as_ref()?;
    let lent = lent(model);
    let handles = model.parameters.iter().enumerate().filter_map(|(at, parameter)| match parameter {
        Parameter::Handle(handle) => {
            let (conditions, local) = (&handle.conditions, local(at));
            Some(quote!(#(#conditions)* &#local))
        }
        Parameter::Argument(_) => None,
    });
    let values: Vec<_> = handles.chain(borrows(model)).collect();
    let made = called(&quote!(#p::previewed), preview, &values);
    Some(quote! {
        , |__owned, __lease| #p::boxed(async move {
            #lent
            let __made = {
                let __arguments = &__owned;
                #made.await
            };
            (__owned, __made)
        })
    })
}
