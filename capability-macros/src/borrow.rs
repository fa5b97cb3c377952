//! Looks inside types for what an owned type with a name does not have.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::Visit;
use syn::{Type, TypeReference};

/// A type without the parentheses and the invisible groups around it.
pub fn unwrapped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => unwrapped(&group.elem),
        Type::Paren(paren) => unwrapped(&paren.elem),
        other => other,
    }
}

/// The first thing in a type that an owned, named type does not have.
pub enum Borrow {
    Opaque(TokenStream),
    Reference(TokenStream),
    Lifetime(TokenStream),
}

impl Borrow {
    pub fn within(ty: &Type) -> Option<Self> {
        let mut finder = Finder(None);
        finder.visit_type(ty);
        finder.0
    }

    pub fn opaque_within(ty: &Type) -> Option<TokenStream> {
        match Self::within(ty) {
            Some(Self::Opaque(opaque)) => Some(opaque),
            Some(Self::Reference(_) | Self::Lifetime(_)) | None => None,
        }
    }

    /// `Self`, which has no meaning outside of an `impl`. A receiver says so by itself.
    pub fn own_type_within(signature: &syn::Signature) -> Option<syn::Ident> {
        let mut finder = OwnType(None);
        if signature.receiver().is_none() {
            finder.visit_signature(signature);
        }
        finder.0
    }
}

struct OwnType(Option<syn::Ident>);

impl<'ast> Visit<'ast> for OwnType {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "Self" {
            self.0.get_or_insert_with(|| segment.ident.clone());
        }
        syn::visit::visit_path_segment(self, segment);
    }
}

struct Finder(Option<Borrow>);

impl<'ast> Visit<'ast> for Finder {
    fn visit_type_impl_trait(&mut self, opaque: &'ast syn::TypeImplTrait) {
        self.0.get_or_insert_with(|| Borrow::Opaque(opaque.to_token_stream()));
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static") {
            self.0.get_or_insert_with(|| Borrow::Reference(reference.to_token_stream()));
        }
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        if lifetime.ident != "static" {
            self.0.get_or_insert_with(|| Borrow::Lifetime(lifetime.to_token_stream()));
        }
    }

    // A function pointer's own lifetimes are bound inside it.
    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
}
