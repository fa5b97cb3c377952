//! A model as tokens. Nothing here can fail.
//!
//! Everything that demands a trait of an author's type stands in one body, the initialiser of the entry: there the compiler
//! reports what is missing once, at the assertion that carries the author's own span, and takes the rest as said.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, ReturnType};

use crate::model::{Argument, Contract, Model, Network, Parameter, SideEffect, Target};
use crate::{attributes, description, paths, section};

pub fn expand(model: &Model<'_>) -> TokenStream {
    let function = model.function;
    let emitted = function.body.as_ref().filter(|_| !model.contract.locked);
    let emitted = emitted.map(|body| function.emitted(body, &section::of(model)));
    let conditions = attributes::conditions(&function.attributes);
    let p = support(model);
    let (arguments, lender, entry) = (arguments(model), lender(model), entry(model));
    quote! {
        #emitted

        #(#conditions)*
        const _: () = {
            #arguments
            #lender
            #[#p::linkme::distributed_slice(#p::CAPABILITIES)]
            #[linkme(crate = #p::linkme)]
            static __ENTRY: #p::Capability = { #entry };
        };
    }
}

fn support(model: &Model<'_>) -> TokenStream {
    let root = &model.support;
    quote!(#root::__private)
}

/// The closed struct of the arguments. Its fields are typed by its parameters, so that deriving demands nothing yet.
fn arguments(model: &Model<'_>) -> TokenStream {
    if model.whole().is_some() {
        return TokenStream::new();
    }
    let p = support(model);
    let serde = paths::text(&quote!(#p::serde));
    let schemars = paths::text(&quote!(#p::schemars));
    let parameters: Vec<_> = generic(model).map(|(at, _)| type_parameter(at)).collect();
    let fields = model.arguments().enumerate().map(|(at, argument)| {
        let (attributes, ident) = (&argument.attributes, argument.ident);
        let ty = if argument.concrete { argument.ty.to_token_stream() } else { type_parameter(at).into_token_stream() };
        quote!(#attributes #ident: #ty)
    });
    quote! {
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
    format_ident!("__A{at}", span = Span::mixed_site())
}

/// A local for the parameter at a position: mixed-site, so that it meets none of the author's names.
fn local(at: usize) -> Ident {
    format_ident!("p{at}", span = Span::mixed_site())
}

/// The arguments' type with everything filled in.
fn arguments_type(model: &Model<'_>) -> TokenStream {
    if let Some(whole) = model.whole() {
        return whole.ty.to_token_stream();
    }
    let types = generic(model).map(|(_, argument)| argument.ty);
    quote!(__Arguments<#(#types),*>)
}

/// The author's result type.
fn result_type(model: &Model<'_>) -> TokenStream {
    match &model.function.signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => ty.to_token_stream(),
    }
}

/// For an async function: a helper whose signature says that the future may move between threads. What keeps it from that is
/// then reported here, at the function's name, with notes that point into its body.
fn lender(model: &Model<'_>) -> TokenStream {
    let signature = &model.function.signature;
    if signature.asyncness.is_none() || model.contract.locked {
        return TokenStream::new();
    }
    let mut parameters = Vec::new();
    let mut values = Vec::new();
    for (at, parameter) in model.parameters.iter().enumerate() {
        let local = local(at);
        let (conditions, parameter) = match parameter {
            Parameter::Handle(handle) => {
                let ty = handle.ty;
                (&handle.conditions, quote!(#local: &'__call #ty))
            }
            Parameter::Argument(argument) => {
                let ty = argument.ty;
                (&argument.conditions, quote!(#local: #ty))
            }
        };
        parameters.push(quote!(#(#conditions)* #parameter));
        values.push(quote!(#(#conditions)* #local));
    }
    let lifetime = model.handles().next().map(|_| quote!('__call));
    let outlives = lifetime.as_ref().map(|lifetime| quote!(+ #lifetime));
    let (name, result) = (&signature.ident, result_type(model));
    let future =
        quote_spanned!(name.span()=> impl ::core::future::Future<Output = #result> + ::core::marker::Send #outlives);
    quote!(fn __call<#lifetime>(#(#parameters),*) -> #future { #name(#(#values),*) })
}

/// The initialiser of the entry: assertions at the author's types, then the definition.
fn entry(model: &Model<'_>) -> TokenStream {
    let p = support(model);
    let assertions = assertions(model);
    let definition = definition(model);
    quote!(#assertions #p::Capability::define(#definition))
}

/// The same tokens, all at one of the author's spans: an error there needs no note about a macro.
fn respanned(tokens: &TokenStream, span: Span) -> TokenStream {
    tokens
        .clone()
        .into_iter()
        .map(|mut tree| {
            if let TokenTree::Group(group) = &tree {
                tree = TokenTree::Group(proc_macro2::Group::new(group.delimiter(), respanned(&group.stream(), span)));
            }
            tree.set_span(span);
            tree
        })
        .collect()
}

fn assertions(model: &Model<'_>) -> TokenStream {
    let contract = &model.contract;
    let markers = |p: &TokenStream| {
        let network = match contract.network {
            Network::Local => quote!(#p::Local),
            Network::External => quote!(#p::External),
        };
        let effect = match contract.side_effect {
            SideEffect::ReadOnly => quote!(#p::ReadOnly),
            SideEffect::Mutating => quote!(#p::Mutating),
        };
        let target = if contract.target.is_some() { quote!(#p::WithTarget) } else { quote!(#p::NoTarget) };
        quote!(#network, #effect, #target)
    };
    let p = support(model);
    let each = model.parameters.iter().map(|parameter| match parameter {
        Parameter::Handle(handle) => {
            let (ty, conditions) = (handle.ty, &handle.conditions);
            let (head, markers) = (respanned(&quote!(#p::handle), ty.span()), respanned(&markers(&p), ty.span()));
            quote_spanned!(ty.span()=> #(#conditions)* #head::<#markers, #ty>();)
        }
        Parameter::Argument(argument) => {
            let (ty, conditions) = (argument.ty, &argument.conditions);
            let head = respanned(&quote!(#p::argument), ty.span());
            quote_spanned!(ty.span()=> #(#conditions)* #head::<#ty>();)
        }
    });
    quote!(#(#each)*)
}

fn definition(model: &Model<'_>) -> TokenStream {
    let p = support(model);
    let Contract { name, version, title, bounds, scope, risk, default, locked, resident, idempotent, .. } =
        &model.contract;
    let title = optional(title.as_ref());
    let description = description::of(&model.function.attributes);
    let side_effect = variant(model.contract.side_effect.word());
    let network = variant(model.contract.network.word());
    let (timeout_ms, max_result, per_turn) =
        (optional(bounds.timeout_ms), optional(bounds.max_result), optional(bounds.per_turn));
    let target = match &model.contract.target {
        Some(Target { kind, argument }) => {
            let kind = variant(kind);
            quote!(#p::Target { kind: #p::TargetKind::#kind, argument: ::core::option::Option::Some(#argument) })
        }
        None => quote!(#p::Target::NONE),
    };
    let scope = optional(scope.as_ref());
    let risk = optional(risk.map(variant).map(|risk| quote!(#p::Risk::#risk)));
    let default = variant(default.unwrap_or("floor"));
    let handles = model.handles().map(|handle| {
        let (ty, conditions) = (handle.ty, &handle.conditions);
        quote!(#(#conditions)* <#ty as #p::Handle>::KIND)
    });
    let code = code(model);
    quote! {
        #p::Definition {
            name: #name,
            version: #version,
            title: #title,
            description: #description,
            side_effect: #p::SideEffect::#side_effect,
            network: #p::Network::#network,
            timeout_ms: #timeout_ms,
            max_result: #max_result,
            per_turn: #per_turn,
            target: #target,
            scope: #scope,
            risk: #risk,
            default: #p::DefaultEffect::#default,
            locked: #locked,
            resident: #resident,
            idempotent: #idempotent,
            handles: &[#(#handles),*],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: #p::SourceLocation {
                file: ::core::file!(),
                line: ::core::line!(),
                column: ::core::column!(),
            },
            code: #code,
        }
    }
}

fn optional(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The variant that a word of the attribute stands for: `read_only` is `ReadOnly`.
fn variant(word: &str) -> Ident {
    let mut name = String::new();
    for part in word.split('_') {
        let mut letters = part.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    format_ident!("{name}")
}

/// The erased code behind the entry.
fn code(model: &Model<'_>) -> TokenStream {
    let p = support(model);
    let (arguments, result) = (arguments_type(model), result_type(model));
    // The demand on the result stands here, at the author's type, because it takes a call that constants cannot make.
    let head = respanned(&p, result.span());
    let answer = quote_spanned! {result.span()=>
        #head::answer_schema(#head::Returned::<#result>::new().parts(), generator)
    };
    let schemas = quote!(#p::arguments_schema::<#arguments>, |generator| #answer);
    let (taken, values) = (taken(model), values(model));
    if model.contract.locked {
        let read = model.arguments().enumerate().map(|(at, argument)| {
            let (conditions, local) = (&argument.conditions, argument_local(model, at));
            quote!(#(#conditions)* #p::ignore(#local);)
        });
        return quote!(#p::Code::locked::<#arguments>(#schemas, |arguments| { #taken #(#read)* }));
    }
    let lent = lent(model);
    let name = &model.function.signature.ident;
    let returned = match model.function.signature.asyncness {
        Some(_) => quote!(__call(#(#values),*).await),
        None => quote!(#name(#(#values),*)),
    };
    let (check, preview) = (check(model), preview(model));
    quote! {
        #p::Code::of(#schemas, |bytes| #p::prepare(bytes, #p::Body::<#arguments> {
            check: #check,
            preview: #preview,
            run: |arguments, call| #p::boxed(async move {
                #taken
                #lent
                let returned = #returned;
                #p::finish(#p::Returned::<#result>::new().split(returned), &call)
            }),
        }))
    }
}

/// The local of the argument at a position among the arguments.
fn argument_local(model: &Model<'_>, wanted: usize) -> Ident {
    let positions =
        model.parameters.iter().enumerate().filter(|(_, parameter)| matches!(parameter, Parameter::Argument(_)));
    local(positions.map(|(at, _)| at).nth(wanted).unwrap_or(wanted))
}

/// Takes the arguments apart into locals.
fn taken(model: &Model<'_>) -> TokenStream {
    if model.whole().is_some() {
        let local = argument_local(model, 0);
        return quote!(let #local = arguments;);
    }
    let fields = model.arguments().enumerate().map(|(at, argument)| {
        let (conditions, ident, local) = (&argument.conditions, argument.ident, argument_local(model, at));
        quote!(#(#conditions)* #ident: #local)
    });
    quote!(let __Arguments { #(#fields),* } = arguments;)
}

/// Lends the handles into locals.
fn lent(model: &Model<'_>) -> TokenStream {
    let p = support(model);
    model
        .parameters
        .iter()
        .enumerate()
        .filter_map(|(at, parameter)| match parameter {
            Parameter::Handle(handle) => {
                let (conditions, ty, local) = (&handle.conditions, handle.ty, local(at));
                Some(quote!(#(#conditions)* let #local = <#ty as #p::Handle>::lend(&call);))
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

/// A borrow of each argument, out of `arguments`, a borrow itself.
fn borrows(model: &Model<'_>) -> Vec<TokenStream> {
    if model.whole().is_some() {
        return vec![quote!(arguments)];
    }
    let of = |argument: &Argument<'_>| {
        let (conditions, ident) = (&argument.conditions, argument.ident);
        quote!(#(#conditions)* &arguments.#ident)
    };
    model.arguments().map(of).collect()
}

fn check(model: &Model<'_>) -> TokenStream {
    let p = support(model);
    let Some(check) = &model.contract.check else { return quote!(#p::unchecked) };
    let borrows = borrows(model);
    let head = respanned(&quote!(#p::checked), check.span());
    let checked = quote_spanned!(check.span()=> #head(#check(#(#borrows),*)));
    quote!(|arguments| #checked)
}

fn preview(model: &Model<'_>) -> TokenStream {
    let p = support(model);
    let Some(preview) = &model.contract.preview else { return quote!(::core::option::Option::None) };
    let lent = lent(model);
    let handles = model.parameters.iter().enumerate().filter_map(|(at, parameter)| match parameter {
        Parameter::Handle(handle) => {
            let (conditions, local) = (&handle.conditions, local(at));
            Some(quote!(#(#conditions)* &#local))
        }
        Parameter::Argument(_) => None,
    });
    let values: Vec<_> = handles.chain(borrows(model)).collect();
    let head = respanned(&quote!(#p::previewed), preview.span());
    let made = quote_spanned!(preview.span()=> #head(#preview(#(#values),*)));
    quote! {
        ::core::option::Option::Some(|owned, call| #p::boxed(async move {
            #lent
            let made = {
                let arguments = &owned;
                #made.await
            };
            (owned, made)
        }))
    }
}
