//! `policy explain`: one call, with everything that has a say in it.

use capability_core::Timestamp;
use capability_core::policy::analysis::Explanation;
use clap::Args;

use super::super::arguments::Named;
use super::super::output::Output;
use super::super::{commands, self_model::EyesArgs};
use super::plainly;
use crate::connection::Connection;
use crate::protocol::{AskedCall, Fault, PolicyQuestion, Request};

/// `policy explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The name, with `@VERSION` for another version than the newest
    #[arg(value_name = "NAME[@V]")]
    pub capability: Named,
    /// What it acts on, as its argument would say it; the words of a command as a JSON list
    #[arg(long, value_name = "TEXT")]
    pub target: Option<String>,
    /// The value of the argument that is its scope
    #[arg(long, value_name = "TEXT")]
    pub scope: Option<String>,
    /// When, as in `2026-11-30T22:30:00Z` [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<Timestamp>,
    /// Who asks
    #[command(flatten)]
    pub eyes: EyesArgs,
}

/// Asks what would be said to a call, and changes nothing.
pub async fn explain(connection: &Connection<'_>, asked: Explain, output: Output) -> Result<u8, Fault> {
    let Explain { capability, target, scope, at, eyes } = asked;
    let (name, version) = (capability.name, capability.version);
    let call = AskedCall { name, version, eyes: eyes.eyes(), scope, target, at };
    let request = Request::Policy(PolicyQuestion::Explain(Box::new(call)));
    commands::show::<Explanation>(connection, &request, output, |told| plainly(&told.to_string())).await
}
