//! The entry's definition: what the attribute says, as constants.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Ident;

use super::{body, support};
use crate::description;
use crate::model::{Contract, Model, Target};

pub(super) fn of(model: &Model<'_>) -> TokenStream {
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
    let code = body::code(model);
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
