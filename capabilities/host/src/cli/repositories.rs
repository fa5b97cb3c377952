//! `repositories`.

use clap::Subcommand;
use serde_json::Value;

use super::commands::{Proofs, show};
use super::output::Output;
use super::render;
use super::table::layout;
use crate::connection::Connection;
use crate::protocol::{Fault, RepositoryState, Request};

/// What to do with repositories.
#[derive(Debug, Subcommand)]
pub enum Repositories {
    /// Show every repository of the configuration
    List,
    /// Fetch one that is elsewhere, whole: what was fetched before is read until then
    Fetch {
        /// Its name in the configuration
        name: String,
    },
}

pub async fn perform(
    connection: &Connection<'_>,
    command: Repositories,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    match command {
        Repositories::List => {
            show::<Vec<RepositoryState>>(connection, &Request::RepositoryList, output, |found| list(found)).await
        }
        Repositories::Fetch { name } => {
            let request = Request::RepositoryFetch(proofs.operator().await?, name);
            show::<Value>(connection, &request, output, render::plain).await
        }
    }
}

fn list(found: &[RepositoryState]) -> String {
    if found.is_empty() {
        return "no repository is configured\n".into();
    }
    let fetched = |state: &RepositoryState| match (state.elsewhere, state.fetched_at) {
        (false, _) => "on this machine".to_owned(),
        (true, None) => "not yet".to_owned(),
        (true, Some(at)) => at.to_string(),
    };
    let cells: Vec<_> = found.iter().map(|state| [state.name.clone(), fetched(state), state.place.clone()]).collect();
    layout(["REPOSITORY", "FETCHED", "WHERE"], &cells)
}
