//! The fixed set of capabilities of a build.
//!
//! linkme drops a crate that nothing names, and adds the entries of every crate that is linked, however deep. So the
//! binary lists its packages; entries of any other package are a refusal to start, and a package that carries a contract
//! list must have exactly the entries that its list names.

use core::hash::Hash;
use core::num::NonZeroU32;
use core::ops::Range;
use std::sync::{Arc, OnceLock};

use hashbrown::{Equivalent, HashMap, HashSet};
use sha2::{Digest as _, Sha256};

use crate::arguments::Validators;
use crate::contract::{Capability, ContractDrift, LockError, PackageLock, SchemaFault, Schemas};
use crate::executor::caught;
use crate::provider::{ProviderDecision, ProviderType};
use crate::surface::WireName;

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

/// Places a package's checked-in contract list beside its capabilities, so that a host refuses to start when an entry of
/// the list is absent or one outside it present.
///
/// ```text
/// capability_core::contracts!("../contracts.lock");
/// ```
#[macro_export]
macro_rules! contracts {
    ($path:literal) => {
        const _: () = {
            #[$crate::__private::linkme::distributed_slice($crate::__private::CONTRACT_LISTS)]
            #[linkme(crate = $crate::__private::linkme)]
            static LIST: $crate::__private::ContractList = $crate::__private::ContractList {
                package: ::core::env!("CARGO_PKG_NAME"),
                text: ::core::include_str!($path),
            };
        };
    };
}

/// The linked entry of an exact name and version, invited or not: for a process that runs bodies on the word of a host that
/// collected the same entries, which [`linked_fingerprint`] tells.
#[must_use]
pub fn linked(name: &str, version: u32) -> Option<&'static Capability> {
    CAPABILITIES.iter().find(|entry| entry.version().get() == version && entry.name().as_str() == name)
}

/// A hash over every linked entry: name, version, class, bounds, package and source location. Two processes with one
/// fingerprint mean the same functions by the same names.
#[must_use]
pub fn linked_fingerprint() -> [u8; 32] {
    let mut lines: Vec<_> = CAPABILITIES
        .iter()
        .map(|entry| {
            format!("{entry} {:?} {:?} {} {}", entry.class(), entry.bounds(), entry.package(), entry.location())
        })
        .collect();
    lines.sort_unstable();
    Sha256::digest(lines.join("\n")).into()
}

/// A registered capability with what is built for it on first use.
pub struct Registered {
    entry: &'static Capability,
    /// The kind of provider that its calls go on to.
    through: Option<ProviderType>,
    built: OnceLock<Result<Built, SchemaFault>>,
    /// The provider decision while the host serves every handle: the same for every call, made with the first.
    served: OnceLock<ProviderDecision>,
    /// How much of a surface's budget it takes.
    shown_bytes: OnceLock<usize>,
}

/// Schemas and validators of one entry, made together and once.
pub(crate) struct Built {
    pub(crate) schemas: Schemas,
    pub(crate) validators: Validators,
    /// Both schemas' digests in one: what an approval binds to.
    pub(crate) digest: [u8; 32],
}

impl Registered {
    /// The const entry.
    #[must_use]
    pub const fn entry(&self) -> &'static Capability {
        self.entry
    }

    /// [`Capability::through`] of it.
    #[must_use]
    pub const fn through(&self) -> Option<ProviderType> {
        self.through
    }

    /// The exported schemas.
    ///
    /// # Errors
    /// [`SchemaFault`] when the entry's own schema breaks a rule; its calls are refused at validate then.
    pub fn schemas(&self) -> Result<&Schemas, &SchemaFault> {
        self.built().map(|built| &built.schemas)
    }

    /// Whether every call names this argument. Where the schema cannot be had, none need.
    pub(crate) fn requires(&self, argument: &str) -> bool {
        self.schemas().is_ok_and(|schemas| schemas.requires(argument))
    }

    pub(crate) fn built(&self) -> Result<&Built, &SchemaFault> {
        self.built
            .get_or_init(|| {
                // Schemas and the defaults in them are made by code of the author's types.
                caught(|| {
                    let schemas = Schemas::of(self.entry)?;
                    let validators = Validators::compile(&schemas)?;
                    let digest = crate::contract::both_digests(&schemas);
                    Ok(Built { schemas, validators, digest })
                })
                .unwrap_or_else(|| {
                    Err(SchemaFault::new(
                        "",
                        "a schema is made without a panic",
                        "look at `JsonSchema` and `Default` of the types in it",
                    ))
                })
            })
            .as_ref()
    }

    /// The provider decision about this entry while the host serves every handle of it.
    pub(crate) fn served(&self) -> &ProviderDecision {
        self.served.get_or_init(|| ProviderDecision::compiled(self.entry, true))
    }

    /// The one while it does not.
    pub(crate) fn unserved(&self) -> Arc<ProviderDecision> {
        Arc::new(ProviderDecision::compiled(self.entry, false))
    }

    /// How many bytes it takes where it is shown, counted once.
    pub(crate) fn shown_bytes(&self, count: impl FnOnce() -> usize) -> usize {
        *self.shown_bytes.get_or_init(count)
    }

    /// Whether schemas and validators have been made.
    #[must_use]
    pub fn is_built(&self) -> bool {
        self.built.get().is_some()
    }
}

#[derive(PartialEq, Eq, Hash)]
struct Key(&'static str, u32);

#[derive(Hash)]
struct Asked<'a>(&'a str, u32);

impl Equivalent<Key> for Asked<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.0 == key.0 && self.1 == key.1
    }
}

/// The capabilities of this build: sorted by name and version, each once, from listed packages only.
pub struct Registry {
    sorted: Vec<Registered>,
    index: HashMap<Key, usize>,
    /// What a model may call each capability, as the places of all versions of it, made when the first one is called so.
    called: OnceLock<HashMap<WireName, Range<usize>>>,
    /// The packages that mark some of their capabilities as resident.
    marking: HashSet<&'static str>,
}

impl Registry {
    /// Takes every linked entry, if all come from `packages` and agree with the packages' contract lists.
    ///
    /// # Errors
    /// [`RegistryFault`] says which entry is missing, uninvited, doubled or changed, and what to write.
    pub fn collect(packages: &[&str]) -> Result<Self, RegistryFault> {
        Self::of(CAPABILITIES.iter(), CONTRACT_LISTS.iter(), packages)
    }

    /// [`Registry::collect`] without the contract lists: for the command that writes them.
    ///
    /// # Errors
    /// [`RegistryFault`], but for a list that cannot be read or differs.
    pub fn collect_without_lists(packages: &[&str]) -> Result<Self, RegistryFault> {
        Self::of(CAPABILITIES.iter(), core::iter::empty(), packages)
    }

    /// [`Registry::collect`] over given entries.
    pub(crate) fn of(
        entries: impl Iterator<Item = &'static Capability>,
        lists: impl Iterator<Item = &'static ContractList>,
        packages: &[&str],
    ) -> Result<Self, RegistryFault> {
        let mut sorted: Vec<_> = entries.collect();
        sorted.sort_unstable_by_key(|entry| (entry.name(), entry.version()));
        if let Some(uninvited) = sorted.iter().find(|entry| !packages.contains(&entry.package())) {
            return Err(RegistryFault::Uninvited(uninvited));
        }
        let mut pairs = sorted.iter().zip(sorted.iter().skip(1));
        if let Some((one, two)) = pairs.find(|(one, two)| (one.name(), one.version()) == (two.name(), two.version())) {
            return Err(RegistryFault::Duplicate(one, two));
        }
        for list in lists.filter(|list| packages.contains(&list.package)) {
            let lock = PackageLock::parse(list.text).map_err(|error| RegistryFault::List(list.package, error))?;
            let own = sorted.iter().copied().filter(|entry| entry.package() == list.package);
            if let Some(drift) = lock.shape_drift(own).into_iter().next() {
                return Err(RegistryFault::Drift(list.package, drift));
            }
        }
        let index = sorted
            .iter()
            .enumerate()
            .map(|(at, entry)| (Key(entry.name().as_static(), entry.version().get()), at))
            .collect();
        let marking = sorted.iter().filter(|entry| entry.is_resident()).map(|entry| entry.package()).collect();
        let sorted = sorted
            .into_iter()
            .map(|entry| Registered {
                entry,
                through: entry.through(),
                built: OnceLock::new(),
                served: OnceLock::new(),
                shown_bytes: OnceLock::new(),
            })
            .collect();
        Ok(Self { sorted, index, called: OnceLock::new(), marking })
    }

    /// Exact name and version, or nothing: there is no near match.
    #[must_use]
    pub fn resolve(&self, name: &str, version: u32) -> Option<&Registered> {
        self.position(name, version).and_then(|at| self.at(at))
    }

    /// Whether a package says of some of its capabilities that a model should always see them.
    pub(crate) fn marks_residents(&self, package: &str) -> bool {
        self.marking.contains(package)
    }

    /// The place of an exact name and version.
    pub(crate) fn position(&self, name: &str, version: u32) -> Option<usize> {
        self.index.get(&Asked(name, version)).copied()
    }

    pub(crate) fn at(&self, at: usize) -> Option<&Registered> {
        self.sorted.get(at)
    }

    /// Every version of the capability that a model may call so, by its name or by that and a version: which of the two it is
    /// called by depends on how many of them a session sees.
    pub(crate) fn called(&self, name: &str) -> &[Registered] {
        let called = self.called.get_or_init(|| {
            let mut called: HashMap<WireName, Range<usize>> = HashMap::with_capacity(2 * self.sorted.len());
            let mut from = 0;
            for versions in self.sorted.chunk_by(|one, next| one.entry.name() == next.entry.name()) {
                let places = from..from + versions.len();
                for Registered { entry, .. } in versions {
                    called.insert(WireName::of_version(entry.name(), entry.version()), places.clone());
                    called.insert(WireName::of_capability(entry.name()), places.clone());
                }
                from = places.end;
            }
            called
        });
        called.get(name).and_then(|places| self.sorted.get(places.clone())).unwrap_or_default()
    }

    /// All of them, by name and version.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Registered> {
        self.sorted.iter()
    }

    /// The newest version of a name, for people who do not give one.
    #[must_use]
    pub fn newest(&self, name: &str) -> Option<NonZeroU32> {
        self.sorted.iter().rev().find(|held| held.entry.name().as_str() == name).map(|held| held.entry.version())
    }

    /// The checked-in contract list of a package, when it carries one.
    #[must_use]
    pub fn contract_list(package: &str) -> Option<&'static str> {
        CONTRACT_LISTS.iter().find(|list| list.package == package).map(|list| list.text)
    }
}

impl core::fmt::Debug for Registry {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.sorted.iter().map(|held| held.entry)).finish()
    }
}

/// Why a host does not start.
#[derive(Debug)]
pub enum RegistryFault {
    /// Two entries have one name and version.
    Duplicate(&'static Capability, &'static Capability),
    /// An entry comes from a package that the binary does not list.
    Uninvited(&'static Capability),
    /// A contract list cannot be read.
    List(&'static str, LockError),
    /// A package's entries and its contract list differ.
    Drift(&'static str, ContractDrift),
}

impl core::fmt::Display for RegistryFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Duplicate(one, two) => write!(
                f,
                "`{one}` is registered twice: at {} and at {}\nhelp: give one of them another name or version",
                one.location(),
                two.location()
            ),
            Self::Uninvited(entry) => write!(
                f,
                "`{entry}` at {} comes from package `{}`, which this binary does not list: linking a crate is no invitation\n\
                 help: write `capability_host::main!(packages: [\"{}\"]);`, or stop linking the crate",
                entry.location(),
                entry.package(),
                entry.package()
            ),
            Self::List(package, error) => write!(f, "the contract list of package `{package}` cannot be read: {error}"),
            Self::Drift(package, drift) => write!(f, "package `{package}` is not what its contract list says: {drift}"),
        }
    }
}

impl core::error::Error for RegistryFault {}

#[cfg(test)]
#[path = "registry/tests.rs"]
mod tests;
