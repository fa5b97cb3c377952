//! `running`.

use clap::Subcommand;
use serde_json::Value;

use super::commands::{Proofs, show};
use super::output::Output;
use crate::connection::Connection;
use crate::display::text::written_out;
use crate::protocol::{Fault, Request, RunningRequest, RunningShown};

/// What to do with what runs on.
#[derive(Debug, Subcommand)]
pub enum Running {
    /// Show every turn of an agent and every command in the background that is under way: whose, since when, and until when at most
    List,
    /// Stop one with everything that it started, on record
    Stop {
        /// Its id
        id: String,
    },
}

pub async fn perform(
    connection: &Connection<'_>,
    command: Running,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let proof = proofs.operator().await?;
    match command {
        Running::List => {
            let request = Request::Running(RunningRequest::List(proof));
            show::<Vec<RunningShown>>(connection, &request, output, |found| list(found)).await
        }
        Running::Stop { id } => {
            let request = Request::Running(RunningRequest::Stop(proof, id));
            show::<Value>(connection, &request, output, |_| "it is stopped\n".to_owned()).await
        }
    }
}

fn list(found: &[RunningShown]) -> String {
    if found.is_empty() {
        return "nothing runs: no agent, and no command in the background\n".to_owned();
    }
    let one = |shown: &RunningShown| {
        let RunningShown { id, kind, what, subject, acts_for, since, ends_at } = shown;
        let acts_for = acts_for.as_ref().map(|other| format!(", acting for `{other}`")).unwrap_or_default();
        format!(
            "{id}  {} of `{subject}`{acts_for}\n    since {since}, until {ends_at} at most\n    {}\n",
            kind.as_str(),
            written_out(what)
        )
    };
    found.iter().map(one).collect()
}
