//! Which tools are always shown, within a budget.
//!
//! The choice depends on the build, the session's declarations and the operator's pins, and on no state that changes while a
//! host runs: whether a provider can be reached is a fact beside the tools, never a change of the tools themselves.

use std::sync::OnceLock;

use super::SurfaceOptions;
use super::operations::operations;
use super::projection;
use super::tool::{Tool, text_of};
use super::wire_name::WireName;
use crate::contract::Capability;
use crate::registry::{Registered, Registry};

/// How much JSON text the tools that are always shown may have, in bytes; what an operator pinned may exceed it.
pub const RESIDENT_BUDGET: usize = 8 * 1024;

/// One tool that is always shown.
pub(super) struct Resident {
    /// Its place among the tools; none for an operation of the surface.
    pub(super) tool: Option<usize>,
    pub(super) name: String,
    pub(super) description: String,
    /// The schema of its arguments, as it is shown.
    pub(super) arguments: serde_json::Value,
    /// Its JSON text in the array.
    pub(super) text: String,
}

impl Resident {
    fn of(tool: Option<usize>, name: &str, description: &str, arguments: serde_json::Value) -> Self {
        let text = text_of(name, description, &arguments);
        Self { tool, name: name.to_owned(), description: description.to_owned(), arguments, text }
    }
}

/// Why a tool is not shown although it wants to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// It does not fit into the budget beside those before it. It is deferred.
    Budget {
        /// What it would take, in bytes.
        bytes: usize,
    },
    /// Its own schema is at fault. It cannot be called either.
    Schema,
}

/// What is shown, in order, and what is not.
pub(super) struct Chosen {
    pub(super) shown: Vec<Resident>,
    pub(super) left_out: Vec<(WireName, LeftOut)>,
    /// Pins that name no visible tool.
    pub(super) unknown_pins: Vec<String>,
}

impl SurfaceOptions {
    /// Whether a tool is shown however much there is beside it.
    pub(super) fn pins(&self, tool: &Tool) -> bool {
        let is_named = |name: &str| self.pinned.contains(name);
        is_named(tool.name().as_str())
            || (!tool.is_foreign() && (self.every_compiled || is_named(tool.entry().name().as_str())))
    }
}

/// Whether a tool wants to be shown: its author marked it, or marked nothing in its package. Nobody in a package where nothing
/// is marked has said that something else should wait.
pub(super) fn wants(entry: &Capability, is_foreign: bool, registry: &Registry) -> bool {
    !is_foreign && (entry.is_resident() || !registry.marks_residents(entry.package()))
}

/// What a tool takes of a budget: its text, and a comma or a bracket.
const fn cost(text: &str) -> usize {
    text.len() + 1
}

/// Both operations, as they are shown.
fn shown_operations() -> impl Iterator<Item = Resident> {
    operations().into_iter().map(|operation| {
        let arguments = projection::shown(&operation.arguments).into_owned();
        Resident::of(None, operation.name, operation.description, arguments)
    })
}

/// Whether everything compiled that wants to be shown is, for whomever: all of it fits together, with what is pinned.
pub(super) fn all_fit(registry: &Registry, options: &SurfaceOptions) -> bool {
    static OPERATIONS: OnceLock<usize> = OnceLock::new();
    let operations = *OPERATIONS.get_or_init(|| shown_operations().map(|own| cost(&own.text)).sum());
    let of = |held: &Registered| {
        held.shown_bytes(|| {
            let name = WireName::of_version(held.entry().name(), held.entry().version());
            let shown = held.schemas().ok().map(|own| projection::shown(own.arguments()).into_owned());
            shown.map_or(0, |arguments| cost(&text_of(name.as_str(), held.entry().description(), &arguments)))
        })
    };
    let named = |held: &Registered| options.every_compiled || options.pinned.contains(held.entry().name().as_str());
    let wanted = registry.iter().filter(|held| wants(held.entry(), false, registry) || named(held));
    let by_wire_name = options.pinned.iter().flat_map(|pin| registry.called(pin));
    1 + operations + wanted.chain(by_wire_name).map(of).sum::<usize>() <= options.budget
}

/// Chooses among `tools`, which are in the order of a surface: compiled ones first.
pub(super) fn choose(tools: &[Tool], registry: &Registry, options: &SurfaceOptions) -> Chosen {
    let wants = |tool: &Tool| wants(tool.entry(), tool.is_foreign(), registry);
    let known = |pin: &String| {
        let names =
            |tool: &&Tool| tool.name().as_str() == pin || (!tool.is_foreign() && tool.entry().name().as_str() == pin);
        tools.iter().any(|tool| names(&tool))
    };
    let unknown_pins = options.pinned.iter().filter(|pin| !known(pin)).cloned().collect();

    let mut left_out = Vec::new();
    let mut candidates: Vec<(bool, Resident)> = Vec::new();
    let mut provided = Vec::new();
    for (at, tool) in tools.iter().enumerate().filter(|(_, tool)| wants(tool) || options.pins(tool)) {
        let Some(arguments) = tool.arguments(registry) else {
            left_out.push((tool.name().clone(), LeftOut::Schema));
            continue;
        };
        let resident = Resident::of(Some(at), tool.name().as_str(), tool.description(), arguments);
        if tool.is_foreign() {
            provided.push(resident);
        } else {
            candidates.push((options.pins(tool), resident));
        }
    }
    let operations: Vec<Resident> = shown_operations().collect();
    let cost = |resident: &Resident| cost(&resident.text);
    let pinned_cost: usize = candidates.iter().filter(|(pinned, _)| *pinned).map(|(_, resident)| cost(resident)).sum();
    let mut used = 1 + operations.iter().map(cost).sum::<usize>() + pinned_cost;
    let mut shown = Vec::with_capacity(candidates.len() + operations.len() + provided.len());
    for (pinned, resident) in candidates {
        if pinned || used + cost(&resident) <= options.budget {
            used += if pinned { 0 } else { cost(&resident) };
            shown.push(resident);
        } else if let Some(tool) = resident.tool.and_then(|at| tools.get(at)) {
            left_out.push((tool.name().clone(), LeftOut::Budget { bytes: cost(&resident) }));
        }
    }
    shown.extend(operations);
    // What a provider has comes last: before it nothing changes when providers come and go.
    shown.extend(provided);
    Chosen { shown, left_out, unknown_pins }
}
