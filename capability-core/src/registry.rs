//! The fixed set of capabilities of a build.

use crate::contract::Capability;

/// Every entry that `#[capability]` placed in a linked crate.
#[doc(hidden)]
#[linkme::distributed_slice]
pub static CAPABILITIES: [Capability];

/// Every checked-in contract list of a linked crate.
#[doc(hidden)]
#[linkme::distributed_slice]
pub static CONTRACT_LISTS: [ContractList];

/// A package's checked-in contract list, placed by [`crate::contracts!`].
#[doc(hidden)]
pub struct ContractList {
    /// The package it speaks for.
    pub package: &'static str,
    /// The text of its `contracts.lock`.
    pub text: &'static str,
}
