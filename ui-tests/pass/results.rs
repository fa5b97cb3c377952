//! Results are told apart by type: plain, fallible, aliased, empty; errors of every kind.
#![deny(warnings, unused_qualifications, unsafe_code)]

use std::fmt;

use capability_core::{Failure, capability};

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Found {
    count: u32,
}

type Answer = Result<Found, Failure>;
type Fallible<T> = Result<T, Broken>;

#[derive(Debug)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken")
    }
}

#[capability(name = "results.plain", version = 1, side_effect = read_only, network = local)]
async fn plain() -> Found {
    Found { count: 0 }
}

#[capability(name = "results.nothing", version = 1, side_effect = read_only, network = local)]
async fn nothing() {}

#[capability(name = "results.nothing_or_error", version = 1, side_effect = read_only, network = local)]
async fn nothing_or_error() -> Result<(), String> {
    Ok(())
}

#[capability(name = "results.aliased", version = 1, side_effect = read_only, network = local)]
async fn aliased() -> Answer {
    Ok(Found { count: 1 })
}

#[capability(name = "results.half_aliased", version = 1, side_effect = read_only, network = local)]
fn half_aliased() -> Fallible<Vec<Found>> {
    Err(Broken)
}

#[capability(name = "results.boxed", version = 1, side_effect = read_only, network = local)]
fn boxed() -> Result<Option<u8>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(None)
}

#[capability(name = "results.text", version = 1, side_effect = read_only, network = local)]
fn text() -> &'static str {
    "text"
}

fn main() {}
