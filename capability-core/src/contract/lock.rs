//! The checked-in list of contracts: a lock file for schemas and classes.
//!
//! One line an entry: name and version, class, bounds, and the digests of both schemas. The list is also the golden list
//! that the registry checks at start.

use std::collections::{BTreeMap, BTreeSet};

use super::{Capability, Schemas};
use crate::hex;

/// One line of a contract list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    /// `name@version`.
    pub entry: String,
    /// Class and bounds, as written in the list.
    pub shape: String,
    /// Digests of the argument and the result schema, in hexadecimal digits.
    pub schemas: [String; 2],
}

impl Contract {
    /// The line of one entry.
    #[must_use]
    pub fn of(capability: &Capability, schemas: &Schemas) -> Self {
        Self {
            entry: capability.to_string(),
            shape: shape(capability),
            schemas: [schemas.arguments_digest(), schemas.result_digest()].map(|digest| hex::text(&digest)),
        }
    }
}

impl core::fmt::Display for Contract {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let [arguments, result] = &self.schemas;
        write!(f, "{} {} arguments={arguments} result={result}", self.entry, self.shape)
    }
}

fn shape(capability: &Capability) -> String {
    let (class, bounds) = (capability.class(), capability.bounds());
    format!(
        "{} {} timeout={}ms max_result={}B per_turn={}",
        class.side_effect.as_str(),
        class.network.as_str(),
        bounds.timeout().as_millis(),
        bounds.max_result(),
        bounds.per_turn()
    )
}

/// A parsed contract list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackageLock {
    contracts: Vec<Contract>,
}

/// Which line of a contract list is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockError {
    /// The line, from 1.
    pub line: usize,
    rule: &'static str,
}

impl core::fmt::Display for LockError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "line {}: {}\nhelp: run `capability contract update`", self.line, self.rule)
    }
}

impl core::error::Error for LockError {}

/// One way in which a list and the entries differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContractDrift {
    /// The list names an entry that is not there.
    Missing(String),
    /// An entry is there that the list does not name.
    Unlisted(String, String),
    /// Class or bounds changed under the same version.
    Shape {
        /// `name@version`.
        entry: String,
        /// As listed.
        listed: String,
        /// As compiled.
        compiled: String,
    },
    /// A schema changed under the same version.
    Schema {
        /// `name@version`.
        entry: String,
        /// `argument` or `result`.
        which: &'static str,
    },
}

impl core::fmt::Display for ContractDrift {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Missing(entry) => write!(
                f,
                "`{entry}` is listed and not there: its module or feature is not linked, or it was removed\n\
                 help: link it again, or run `capability contract update` and review the removed line"
            ),
            Self::Unlisted(entry, location) => write!(
                f,
                "`{entry}` at {location} is there and not listed\n\
                 help: run `capability contract update` and check the new line in"
            ),
            Self::Shape { entry, listed, compiled } => write!(
                f,
                "`{entry}` changed under the same version: listed `{listed}`, compiled `{compiled}`\n\
                 help: give it a new `version`; before its first release, run `capability contract update --force`"
            ),
            Self::Schema { entry, which } => write!(
                f,
                "the {which} schema of `{entry}` changed under the same version: callers rely on the old one\n\
                 help: give it a new `version`; before its first release, run `capability contract update --force`"
            ),
        }
    }
}

impl PackageLock {
    /// Reads a list. Empty lines and lines that start with `#` are passed over.
    ///
    /// # Errors
    /// [`LockError`] names the first line that is not a contract.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let mut contracts: Vec<Contract> = Vec::new();
        let mut seen = BTreeSet::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fault = |rule| LockError { line: at + 1, rule };
            let fields: Vec<_> = line.split_whitespace().collect();
            let [entry, shape @ .., arguments, result] = fields.as_slice() else {
                return Err(fault("a contract has a name, a class, bounds and two digests"));
            };
            let digest = |field: &str, key| {
                let digits = field.strip_prefix(key).filter(|digits| hex::read::<32>(digits).is_some());
                digits.map(str::to_owned).ok_or_else(|| fault("a digest is 64 hexadecimal digits"))
            };
            let schemas = [digest(arguments, "arguments=")?, digest(result, "result=")?];
            if shape.len() != 5 {
                return Err(fault("a contract has a class of two words and three bounds"));
            }
            if !seen.insert(*entry) {
                return Err(fault("this entry stands twice"));
            }
            contracts.push(Contract { entry: (*entry).to_owned(), shape: shape.join(" "), schemas });
        }
        Ok(Self { contracts })
    }

    /// The contracts, in the order of the list.
    #[must_use]
    pub fn contracts(&self) -> &[Contract] {
        &self.contracts
    }

    fn find(&self, entry: &str) -> Option<&Contract> {
        self.contracts.iter().find(|contract| contract.entry == entry)
    }

    /// How `entries` differ from the list in presence, class or bounds: what is cheap enough for every start.
    #[must_use]
    pub fn shape_drift<'a>(&self, entries: impl Iterator<Item = &'a Capability>) -> Vec<ContractDrift> {
        let mut drift = Vec::new();
        // What is found is taken out, so that what is left at the end is missing.
        let mut listed: BTreeMap<&str, &Contract> =
            self.contracts.iter().map(|contract| (contract.entry.as_str(), contract)).collect();
        for capability in entries {
            let entry = capability.to_string();
            match listed.remove(entry.as_str()) {
                None => drift.push(ContractDrift::Unlisted(entry, capability.location().to_string())),
                Some(listed) => {
                    let compiled = shape(capability);
                    if listed.shape != compiled {
                        drift.push(ContractDrift::Shape { entry, listed: listed.shape.clone(), compiled });
                    }
                }
            }
        }
        let missing = self.contracts.iter().filter(|contract| listed.contains_key(contract.entry.as_str()));
        drift.extend(missing.map(|contract| ContractDrift::Missing(contract.entry.clone())));
        drift
    }

    /// How one entry's schemas differ from the list.
    #[must_use]
    pub fn schema_drift(&self, compiled: &Contract) -> Vec<ContractDrift> {
        let Some(listed) = self.find(&compiled.entry) else {
            return Vec::new();
        };
        let changed = listed.schemas.iter().zip(&compiled.schemas).zip(["argument", "result"]);
        changed
            .filter(|((listed, compiled), _)| listed != compiled)
            .map(|(_, which)| ContractDrift::Schema { entry: compiled.entry.clone(), which })
            .collect()
    }
}

/// Both schemas' digests in one.
pub(crate) fn both_digests(schemas: &Schemas) -> [u8; 32] {
    use sha2::{Digest as _, Sha256};
    let mut both = Sha256::new();
    both.update(schemas.arguments_digest());
    both.update(schemas.result_digest());
    both.finalize().into()
}
