//! The section that each capability's documentation gains: what the attribute says, and what follows from it.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::model::{Bounds, Model, Network, SideEffect};
use crate::paths;

/// Doc attributes, to stand below the author's own.
pub fn of(model: &Model<'_>) -> TokenStream {
    let lines = lines(model);
    quote!(#(#[doc = #lines])*)
}

fn lines(model: &Model<'_>) -> Vec<String> {
    let contract = &model.contract;
    let (side_effect, network) = (contract.side_effect, contract.network);
    let mut lines = vec![String::new(), " # Contract".to_owned(), String::new()];
    let mut row = |left: &str, right: String| lines.push(format!(" | {left} | {right} |"));
    row("capability", format!("`{}`, version {}", contract.name.value(), contract.version));
    row("---", "---".to_owned());
    if let Some(title) = &contract.title {
        row("title", title.value().replace('|', "\\|"));
    }
    row("side effect", format!("`{}`", side_effect.word()));
    row("network", format!("`{}`", network.word()));
    row("confirmation", format!("{}, computed from the two above", confirmation(side_effect, network)));
    row("bounds", bounds(side_effect, network, contract.bounds));
    let handles: Vec<_> =
        model.handles().map(|handle| format!("`{}`", paths::text(&handle.ty.to_token_stream()))).collect();
    row("handles", if handles.is_empty() { "none".to_owned() } else { handles.join(", ") });
    if let Some(target) = &contract.target {
        row("target", format!("{} in `{}`", target.kind, target.argument));
    }
    if let Some(scope) = &contract.scope {
        row("scope", format!("`{scope}`"));
    }
    if let Some(risk) = contract.risk {
        row("risk", risk.to_owned());
    }
    if let Some(default) = contract.default {
        row("default", default.to_owned());
    }
    if contract.idempotent {
        row("idempotent", "doing it twice is doing it once".to_owned());
    }
    if contract.resident {
        row("resident", "among the tools a model always sees".to_owned());
    }
    lines.extend(arguments(model));
    lines
}

/// What a caller sends: the documentation of parameters is shown nowhere else.
fn arguments(model: &Model<'_>) -> Vec<String> {
    let mut lines = vec![String::new(), " # Arguments".to_owned(), String::new()];
    for argument in model.arguments() {
        let ty = paths::text(&argument.ty.to_token_stream());
        let what = match (argument.whole, argument.summary.as_str()) {
            (true, _) => format!(" The properties of `{ty}`."),
            (false, "") => format!(" - `{}`: `{ty}`", argument.property),
            (false, summary) => format!(" - `{}`: `{ty}`. {summary}", argument.property),
        };
        lines.push(what);
    }
    if model.arguments().next().is_none() {
        lines.push(" None.".to_owned());
    }
    lines
}

/// The same table as `Confirmation::of`: this crate cannot ask that one, because it is built first.
pub const fn confirmation(side_effect: SideEffect, network: Network) -> &'static str {
    match (side_effect, network) {
        (SideEffect::ReadOnly, Network::Local) => "automatic",
        (SideEffect::ReadOnly, Network::External)
        | (SideEffect::Mutating, Network::Local)
        | (SideEffect::Mutating, Network::External) => "required",
    }
}

/// The same rows as `Bounds::of_class`, with what was written in their place, in the words of its `Display`.
pub fn bounds(side_effect: SideEffect, network: Network, written: Bounds) -> String {
    let (timeout, per_turn) = match (side_effect, network) {
        (SideEffect::ReadOnly, Network::Local) => (5_000, 16),
        (SideEffect::ReadOnly, Network::External) => (15_000, 4),
        (SideEffect::Mutating, Network::Local) => (10_000, 4),
        (SideEffect::Mutating, Network::External) => (15_000, 1),
    };
    let ms: u64 = written.timeout_ms.unwrap_or(timeout);
    let bytes: u64 = written.max_result.unwrap_or(64 << 10);
    let timeout = if ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{ms} ms") };
    let size = match (bytes.is_multiple_of(1 << 20), bytes.is_multiple_of(1 << 10)) {
        (true, _) => format!("{} MiB", bytes >> 20),
        (false, true) => format!("{} KiB", bytes >> 10),
        (false, false) => format!("{bytes} B"),
    };
    format!("{timeout}, {size}, {} per turn", written.per_turn.unwrap_or(per_turn))
}
