//! A function without mistakes, and what its attribute says. Borrows what was parsed.

use proc_macro2::TokenStream;
use syn::{Attribute, Ident, LitStr, Path, Type};

use crate::signature::Function;

pub struct Model<'a> {
    pub function: &'a Function,
    pub contract: Contract,
    pub parameters: Vec<Parameter<'a>>,
    /// The path of the supporting crate.
    pub support: TokenStream,
}

pub struct Contract {
    pub name: LitStr,
    pub version: u32,
    pub title: Option<LitStr>,
    pub side_effect: SideEffect,
    pub network: Network,
    pub bounds: Bounds,
    pub target: Option<Target>,
    pub scope: Option<String>,
    pub preview: Option<Path>,
    pub check: Option<Path>,
    pub risk: Option<&'static str>,
    pub default: Option<&'static str>,
    pub locked: bool,
    pub resident: bool,
    pub idempotent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SideEffect {
    ReadOnly,
    Mutating,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Network {
    Local,
    External,
}

/// What was written; absent ones come from the class.
#[derive(Clone, Copy, Default)]
pub struct Bounds {
    pub timeout_ms: Option<u64>,
    pub max_result: Option<u64>,
    pub per_turn: Option<u32>,
}

pub struct Target {
    /// The word of the attribute.
    pub kind: &'static str,
    /// The property that names it.
    pub argument: String,
}

pub enum Parameter<'a> {
    Handle(Handle<'a>),
    Argument(Argument<'a>),
}

/// A borrowed parameter.
pub struct Handle<'a> {
    /// Behind the `&`.
    pub ty: &'a Type,
    pub conditions: Vec<&'a Attribute>,
}

/// An owned parameter.
pub struct Argument<'a> {
    pub ident: &'a Ident,
    /// Its name in the argument object.
    pub property: String,
    pub ty: &'a Type,
    /// The first paragraph of its documentation, where that is text.
    pub summary: String,
    /// For the generated field.
    pub attributes: TokenStream,
    pub conditions: Vec<&'a Attribute>,
    /// Marked `#[args]`: it is the object.
    pub whole: bool,
    /// Whether the field's type must be written out, because an attribute speaks of it.
    pub concrete: bool,
}

impl Model<'_> {
    pub fn handles(&self) -> impl Iterator<Item = &Handle<'_>> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Handle(handle) => Some(handle),
            Parameter::Argument(_) => None,
        })
    }

    pub fn arguments(&self) -> impl Iterator<Item = &Argument<'_>> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::Handle(_) => None,
        })
    }

    /// The `#[args]` parameter.
    pub fn whole(&self) -> Option<&Argument<'_>> {
        self.arguments().find(|argument| argument.whole)
    }
}

impl SideEffect {
    pub const WORDS: &'static [&'static str] = &["read_only", "mutating"];

    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Mutating => "mutating",
        }
    }
}

impl Network {
    pub const WORDS: &'static [&'static str] = &["local", "external"];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::External => "external",
        }
    }
}
