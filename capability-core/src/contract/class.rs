//! The two risk axes and the one table that is computed from them.

use serde::{Deserialize, Serialize};

/// What a capability does to the world it can reach.
///
/// `read_only` observes; `mutating` changes something. For files and processes the class is enforced by the kernel; for
/// what a remote server does with a GET it is the author's word, reviewed like code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideEffect {
    /// Observes without changing anything.
    ReadOnly,
    /// Changes something outside the call's own answer.
    Mutating,
}

impl SideEffect {
    /// The word used in the attribute, in rules and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Mutating => "mutating",
        }
    }
}

/// Where a capability's data can go.
///
/// `local` never leaves the device; `external` contacts something outside it, whatever it does there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Never leaves the device.
    Local,
    /// Contacts something outside the device.
    External,
}

impl Network {
    /// The word used in the attribute, in rules and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::External => "external",
        }
    }
}

/// One cell of the table: a side effect and a network classification. Two independent axes, never one risk level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Class {
    /// What the capability does.
    pub side_effect: SideEffect,
    /// Where its data can go.
    pub network: Network,
}

impl Class {
    /// All four cells, in the order of the table.
    pub const ALL: [Self; 4] = [
        Self::new(SideEffect::ReadOnly, Network::Local),
        Self::new(SideEffect::ReadOnly, Network::External),
        Self::new(SideEffect::Mutating, Network::Local),
        Self::new(SideEffect::Mutating, Network::External),
    ];

    /// What is assumed of anything whose class nobody has settled.
    pub const STRICTEST: Self = Self::new(SideEffect::Mutating, Network::External);

    /// The cell of these two classifications.
    #[must_use]
    pub const fn new(side_effect: SideEffect, network: Network) -> Self {
        Self { side_effect, network }
    }

    /// What this cell demands before anything of it runs.
    pub const fn confirmation(self) -> Confirmation {
        Confirmation::of(self.side_effect, self.network)
    }
}

impl core::fmt::Display for Class {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} + {}", self.side_effect.as_str(), self.network.as_str())
    }
}

/// Whether a person must answer before an invocation runs. Computed, never declared.
///
/// | side effect | network | confirmation |
/// |---|---|---|
/// | `read_only` | `local` | automatic |
/// | `read_only` | `external` | required |
/// | `mutating` | `local` | required |
/// | `mutating` | `external` | required |
///
/// [`Confirmation::of`] is the only way to obtain one: the type has no public constructor, no `Default`, and cannot be
/// deserialised, and no registry entry has a field that could hold one.
///
/// ```compile_fail,E0423
/// // There is nothing to write down: the field is private.
/// let automatic = capability_core::Confirmation(true);
/// ```
///
/// Source: RFC-0003, "Confirmation Model".
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a confirmation that is not looked at confirms nothing"]
pub struct Confirmation(Need);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Need {
    Automatic,
    Required,
}

impl Confirmation {
    /// The table.
    pub const fn of(side_effect: SideEffect, network: Network) -> Self {
        Self(match (side_effect, network) {
            (SideEffect::ReadOnly, Network::Local) => Need::Automatic,
            (SideEffect::ReadOnly, Network::External)
            | (SideEffect::Mutating, Network::Local)
            | (SideEffect::Mutating, Network::External) => Need::Required,
        })
    }

    /// True when only a fresh answer of a person, to this very invocation, lets it run.
    #[must_use]
    pub const fn is_required(self) -> bool {
        matches!(self.0, Need::Required)
    }

    /// `automatic` or `required`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self.0 {
            Need::Automatic => "automatic",
            Need::Required => "required",
        }
    }
}

impl core::fmt::Debug for Confirmation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::fmt::Display for Confirmation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Confirmation, Network, SideEffect};

    /// Every cell, spelled out: a change here is a change of the contract.
    #[test]
    fn the_table_has_exactly_one_automatic_cell() {
        let table: Vec<_> = Class::ALL.iter().map(|c| (c.to_string(), c.confirmation().as_str())).collect();
        assert_eq!(
            table,
            [
                ("read_only + local".to_owned(), "automatic"),
                ("read_only + external".to_owned(), "required"),
                ("mutating + local".to_owned(), "required"),
                ("mutating + external".to_owned(), "required"),
            ]
        );
    }

    #[test]
    fn it_is_computable_in_a_constant() {
        const REQUIRED: bool = Confirmation::of(SideEffect::Mutating, Network::Local).is_required();
        const { assert!(REQUIRED) }
    }
}
