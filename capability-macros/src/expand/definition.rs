//! The entry's definition: what the attribute says, as constants.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Ident;

use super::{body, support};
use crate::description;
use crate::model::{Contract, Model, Target};

pub(super) fn of(model: &Model<'_>) -> TokenStream {
    let p = support();
    let contract = &model.contract;
    let (name, version) = (&contract.name, &contract.version);
    let description = description::of(&model.function.attributes);
    let side_effect = variant(contract.side_effect.word());
    let network = variant(contract.network.word());
    let options = options(contract, &p);
    let handles = model.handles().map(|handle| {
        let (ty, conditions) = (handle.ty, &handle.conditions);
        quote!(#(#conditions)* <#ty as #p::Handle>::KIND)
    });
    let code = body::code(model);
    quote! {
        #p::Definition {
            name: #name,
            version: #version,
            description: #description,
            side_effect: #p::SideEffect::#side_effect,
            network: #p::Network::#network,
            options: #options,
            handles: &[#(#handles),*],
            package: ::core::env!("CARGO_PKG_NAME"),
            location: #p::SourceLocation::here(),
            code: #code,
        }
    }
}

/// What was written of what need not be.
fn options(contract: &Contract, p: &TokenStream) -> TokenStream {
    let Contract { title, bounds, target, scope, risk, default, locked, resident, idempotent, preview, .. } = contract;
    let target = target.as_ref().map(|Target { kind, argument }| {
        let (kind, argument) = (variant(kind), optional(argument));
        quote!(#p::Target { kind: #p::TargetKind::#kind, argument: #argument })
    });
    let default = default.map(variant).map(|default| quote!(#p::DefaultEffect::#default));
    let risk = risk.map(variant).map(|risk| optional(quote!(#p::Risk::#risk)));
    let written = [
        title.as_ref().map(optional).map(|title| quote!(title: #title)),
        bounds.timeout_ms.map(optional).map(|timeout| quote!(timeout_ms: #timeout)),
        bounds.max_result.map(optional).map(|most| quote!(max_result: #most)),
        bounds.per_turn.map(optional).map(|most| quote!(per_turn: #most)),
        target.map(|target| quote!(target: #target)),
        scope.as_ref().map(optional).map(|scope| quote!(scope: #scope)),
        risk.map(|risk| quote!(risk: #risk)),
        default.map(|default| quote!(default: #default)),
        locked.then(|| quote!(locked: true)),
        resident.then(|| quote!(resident: true)),
        idempotent.then(|| quote!(idempotent: true)),
        preview.as_ref().map(|_| quote!(previews: true)),
    ];
    let mut written = written.into_iter().flatten().peekable();
    if written.peek().is_none() {
        return quote!(#p::Options::NONE);
    }
    quote!(#p::Options { #(#written,)* ..#p::Options::NONE })
}

/// The option that holds it.
fn optional(value: impl ToTokens) -> TokenStream {
    quote!(::core::option::Option::Some(#value))
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
