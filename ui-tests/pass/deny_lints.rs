//! Generated code is quiet under strict lints, and adds no visible name.
#![forbid(unsafe_code)]
#![deny(
    missing_docs, unused_qualifications, warnings, unreachable_pub, single_use_lifetimes, unused_lifetimes,
    trivial_casts, trivial_numeric_casts, unused_results, elided_lifetimes_in_paths, missing_debug_implementations,
    missing_copy_implementations, non_ascii_idents, let_underscore_drop, unit_bindings, redundant_lifetimes,
    explicit_outlives_requirements, unnameable_types, variant_size_differences, ambiguous_negative_literals
)]

use std::option::Option;

use capability_core::capability;
use capability_core::handle::{Clock, Context};

/// Looks something up.
#[capability(
    name = "lints.all", version = 1, side_effect = read_only, network = local, title = "Look up", bounds(timeout = "1s"),
    scope = query, check = check, resident, idempotent
)]
pub(crate) async fn all(context: &Context, query: String, limit: Option<u32>, clock: &Clock) -> Result<String, String> {
    let _ = (context, clock, limit);
    Ok(query)
}

fn check(query: &str, limit: &Option<u32>) -> Result<(), String> {
    if query.is_empty() && limit.is_none() { Err("nothing".to_owned()) } else { Ok(()) }
}

/// Says nothing.
#[capability(name = "lints.nothing", version = 1, side_effect = read_only, network = local)]
fn nothing() {}

/// Never runs.
#[capability(name = "lints.locked", version = 1, side_effect = read_only, network = local, locked)]
fn locked(text: String, other: Option<u8>) -> u8;

fn main() {}
