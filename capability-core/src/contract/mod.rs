//! What a capability is: the const registry entry and the types it is made of.
//!
//! Everything here is fixed when the crate that holds the annotated function compiles. Source: RFC-0003, "Capability
//! Definition".

mod bounds;
mod class;
mod lock;
mod name;
pub(crate) mod schema;
mod target;

pub use bounds::{Bounds, CEILING_MAX_RESULT, CEILING_PER_TURN, CEILING_TIMEOUT_MS};
pub use class::{Class, Confirmation, Network, SideEffect};
pub(crate) use lock::both_digests;
pub use lock::{Contract, ContractDrift, LockError, PackageLock};
pub use name::{CapabilityName, MAX_NAME_BYTES, is_valid as is_valid_name};
pub use schema::{MAX_SCHEMA_BYTES, SchemaFault, Schemas};
pub use target::{Risk, Target, TargetKind};

use core::num::NonZeroU32;

use crate::handle::{HandleFamily, HandleKind};
use crate::private::Code;

/// Where an entry's function stands in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file as the compiler saw it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl SourceLocation {
    /// Where the call of this stands.
    #[doc(hidden)]
    #[must_use]
    #[track_caller]
    pub const fn here() -> Self {
        let caller = core::panic::Location::caller();
        Self { file: caller.file(), line: caller.line(), column: caller.column() }
    }
}

impl core::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What an entry contributes to policy when no operator rule is narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefaultEffect {
    /// Nothing beyond the floor.
    Floor,
    /// Ask, even above an `automatic` floor.
    Ask,
    /// Deny until a narrower operator rule says otherwise.
    Deny,
}

impl DefaultEffect {
    /// The word used in the attribute; `floor` when none was written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// One registry entry: the whole contract of one version of one capability.
///
/// Made by `#[capability]` in a constant, and only there. There is no field for a confirmation:
/// [`Capability::confirmation`] computes it.
pub struct Capability {
    name: CapabilityName,
    version: NonZeroU32,
    class: Class,
    bounds: Bounds,
    definition: Definition,
}

/// What the macro writes down; [`Capability::define`] checks it. Hidden: `#[capability]` is the way to make an entry.
#[doc(hidden)]
pub struct Definition {
    pub name: &'static str,
    pub version: u32,
    pub description: &'static str,
    pub side_effect: SideEffect,
    pub network: Network,
    pub options: Options,
    pub handles: &'static [HandleKind],
    pub package: &'static str,
    pub location: SourceLocation,
    pub code: Code,
}

/// What need not be written. The macro writes only what was: each token that it does not write is one that no build reads.
#[doc(hidden)]
pub struct Options {
    pub title: Option<&'static str>,
    pub timeout_ms: Option<u64>,
    pub max_result: Option<u64>,
    pub per_turn: Option<u32>,
    pub target: Target,
    pub scope: Option<&'static str>,
    pub risk: Option<Risk>,
    pub default: DefaultEffect,
    pub locked: bool,
    pub resident: bool,
    pub idempotent: bool,
    pub previews: bool,
}

impl Options {
    /// Nothing written.
    pub const NONE: Self = Self {
        title: None,
        timeout_ms: None,
        max_result: None,
        per_turn: None,
        target: Target::NONE,
        scope: None,
        risk: None,
        default: DefaultEffect::Floor,
        locked: false,
        resident: false,
        idempotent: false,
        previews: false,
    };
}

impl Capability {
    /// The const constructor behind the macro; what it refuses is a compile error.
    ///
    /// # Panics
    /// On a name outside the grammar, version 0, bounds outside the ceilings, or one handle kind twice.
    #[doc(hidden)]
    #[must_use]
    #[expect(clippy::panic, reason = "in a constant this is the compile error that backs up the macro's")]
    pub const fn define(definition: Definition) -> Self {
        let class = Class::new(definition.side_effect, definition.network);
        let Some(version) = NonZeroU32::new(definition.version) else {
            panic!("`version` is a positive integer");
        };
        let options = &definition.options;
        assert!(HandleKind::all_distinct(definition.handles), "one handle of each kind is lent to a call");
        Self {
            name: CapabilityName::of_entry(definition.name),
            version,
            class,
            bounds: Bounds::written(class, options.timeout_ms, options.max_result, options.per_turn),
            definition,
        }
    }

    /// The dotted name.
    #[must_use]
    pub const fn name(&self) -> CapabilityName {
        self.name
    }

    /// The version: a changed schema or class is a new one, never a mutation.
    #[must_use]
    pub const fn version(&self) -> NonZeroU32 {
        self.version
    }

    /// Both classifications.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.class
    }

    /// Whether a call of it can count as this: as it is compiled, and as whatever an operator gives to a tool that it leads to.
    pub(crate) fn may_be(&self, side_effect: SideEffect) -> bool {
        self.class.side_effect == side_effect || self.through().is_some()
    }

    /// What the class demands. Computed on every call; nothing stores it.
    pub const fn confirmation(&self) -> Confirmation {
        self.class.confirmation()
    }

    /// How long, how much, how often.
    #[must_use]
    pub const fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// What it acts on.
    #[must_use]
    pub const fn target(&self) -> Target {
        self.definition.options.target
    }

    /// How grave a wrong call would be.
    #[must_use]
    pub const fn risk(&self) -> Risk {
        match self.definition.options.risk {
            Some(written) => written,
            None => Risk::of_class(self.class),
        }
    }

    /// The argument that `:scope` in a declaration or rule refers to.
    #[must_use]
    pub const fn scope(&self) -> Option<&'static str> {
        self.definition.options.scope
    }

    /// What policy starts from.
    #[must_use]
    pub const fn default_effect(&self) -> DefaultEffect {
        self.definition.options.default
    }

    /// True when it exists to be named and never runs; nothing can relax that.
    #[must_use]
    pub const fn is_locked(&self) -> bool {
        self.definition.options.locked
    }

    /// True when the author wants it among the tools a model always sees.
    #[must_use]
    pub const fn is_resident(&self) -> bool {
        self.definition.options.resident
    }

    /// True when the author promises that doing it twice is doing it once.
    #[must_use]
    pub const fn is_idempotent(&self) -> bool {
        self.definition.options.idempotent
    }

    /// True when its author's code looks at the call before anybody is asked, and what it finds is judged, shown and approved.
    /// That look is taken here, so nobody else carries such a capability out.
    #[must_use]
    pub const fn previews(&self) -> bool {
        self.definition.options.previews
    }

    /// A short human name, when one was written.
    #[must_use]
    pub const fn title(&self) -> Option<&'static str> {
        self.definition.options.title
    }

    /// The function's doc comment: paragraphs kept, soft line breaks joined.
    #[must_use]
    pub const fn description(&self) -> &'static str {
        self.definition.description
    }

    /// The authority it is lent, in the order of its parameters.
    #[must_use]
    pub const fn handles(&self) -> &'static [HandleKind] {
        self.definition.handles
    }

    /// Whether a handle of this family is among them.
    pub(crate) fn holds(&self, family: HandleFamily) -> bool {
        self.handles().iter().any(|kind| kind.family() == family)
    }

    /// The kind of provider that a call of it goes on to: an entry that holds [`ProviderTool`](crate::handle::ProviderTool)
    /// names the provider by its scope and the tool by its argument `tool`, and is judged as that very tool.
    #[must_use]
    pub fn through(&self) -> Option<crate::provider::ProviderType> {
        let held = self.handles().iter().find(|kind| kind.family() == HandleFamily::ProviderTool)?;
        crate::provider::ProviderType::named(held.instance())
    }

    /// The package that compiled it in.
    #[must_use]
    pub const fn package(&self) -> &'static str {
        self.definition.package
    }

    /// Where its function stands.
    #[must_use]
    pub const fn location(&self) -> SourceLocation {
        self.definition.location
    }

    /// The compiled code behind it.
    pub(crate) const fn code(&self) -> &Code {
        &self.definition.code
    }
}

impl core::fmt::Display for Capability {
    /// `name@version`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

impl core::fmt::Debug for Capability {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{self} ({}, {}, {})", self.class, self.bounds, self.definition.package)
    }
}
