//! Tools that a command line on a person's machine declares while it is connected.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Claims, ProvidedTool, Standing, ToolDefinition, ToolId, is_native_id};
use crate::registry::Registry;

/// One tool as a command line on a person's machine declares it, with its full contract. What it says of its effect is a
/// claim.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DynamicContract {
    /// Its name among the contracts.
    pub name: String,
    /// What a model is told about it.
    #[serde(default)]
    pub description: String,
    /// What its arguments must follow.
    pub input_schema: Value,
    /// What its structured result follows.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// What it claims.
    #[serde(default)]
    pub claims: Claims,
}

/// The tools that a command line has of its own, with the identity of each: what it will be asked for, by name of the
/// contract. A contract without an identity can be seen, and not called.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DynamicTools {
    /// What it declares.
    pub contracts: Vec<DynamicContract>,
    /// Its own identity of each.
    pub native_ids: BTreeMap<String, String>,
}

/// Why a contract that was declared cannot be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unbound {
    /// Its name is a compiled capability's, whose identity is the registry's.
    Builtin,
    /// It has no identity.
    Missing,
    /// Its identity is not one.
    Invalid,
    /// It shares its name or identity with another contract.
    Conflicting,
}

impl DynamicTools {
    /// The tools as a provider has them, and which contracts are not bound and why. An identity for what is not declared, and
    /// one for a compiled capability, is nobody's.
    #[must_use]
    pub fn accepted(self, provider: &str, registry: &Registry) -> (Vec<ProvidedTool>, BTreeMap<String, Unbound>) {
        let Self { contracts, native_ids } = self;
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
        for contract in &contracts {
            *names.entry(&contract.name).or_default() += 1;
            if let Some(id) = native_ids.get(&contract.name) {
                *ids.entry(id).or_default() += 1;
            }
        }
        let several = |counted: &BTreeMap<&str, usize>, text: &str| counted.get(text).is_some_and(|count| *count > 1);
        let (mut tools, mut unbound) = (Vec::new(), BTreeMap::new());
        for contract in &contracts {
            let id = native_ids.get(&contract.name);
            let why = if registry.newest(&contract.name).is_some() {
                Some(Unbound::Builtin)
            } else if several(&names, &contract.name) || id.is_some_and(|id| several(&ids, id)) {
                Some(Unbound::Conflicting)
            } else {
                match id {
                    None => Some(Unbound::Missing),
                    Some(id) if !is_native_id(id) => Some(Unbound::Invalid),
                    Some(_) => None,
                }
            };
            let first = why.is_none_or(|why| unbound.insert(contract.name.clone(), why).is_none());
            let shown_as = match (why, id) {
                (None, Some(id)) => id,
                // It keeps its place under its own name, unless that is what another is called.
                (Some(Unbound::Builtin), _) | (None, None) => continue,
                (Some(_), _) if !first || ids.contains_key(&*contract.name) => continue,
                (Some(_), _) => &contract.name,
            };
            let DynamicContract { name, description, input_schema, output_schema, claims } = contract.clone();
            let tool = ProvidedTool::new(ToolDefinition {
                id: ToolId { provider: provider.to_owned(), native: shown_as.clone() },
                title: Some(name),
                description,
                input_schema,
                output_schema,
                claims,
            });
            tools.push(if why.is_some() { tool.standing_at(Standing::Unbound) } else { tool });
        }
        (tools, unbound)
    }
}
