//! `secrets`.

use clap::Subcommand;

use super::commands::{document, show};
use super::output::Output;
use super::table::layout;
use crate::connection::Connection;
use crate::protocol::{Fault, Request, SecretShown};

/// What to do with secrets.
#[derive(Debug, Subcommand)]
pub enum Secrets {
    /// Show every secret and credential of the configuration and where it comes from
    List,
    /// Show whether they are there, how long about, and when they end
    Status {
        /// One of them; all without it
        name: Option<String>,
    },
    /// Say what is wrong with any of them, and fail when something is
    Check,
}

/// A secret is not as it must be.
const WRONG: u8 = 1;

pub async fn perform(connection: &Connection<'_>, command: Secrets, output: Output) -> Result<u8, Fault> {
    match command {
        Secrets::List => show::<Vec<SecretShown>>(connection, &Request::SecretList, output, |found| list(found)).await,
        Secrets::Status { name } => {
            let mut found: Vec<SecretShown> = document(connection.ask(&Request::SecretList).await?)?;
            if let Some(name) = name {
                found.retain(|one| one.name == name);
                if found.is_empty() {
                    return Err(Fault::refused("no secret has that name", "see them with `capability secrets list`"));
                }
            }
            output.print(&found, |found| status(found));
            Ok(0)
        }
        Secrets::Check => {
            let mut found: Vec<SecretShown> = document(connection.ask(&Request::SecretList).await?)?;
            found.retain(|one| one.help.is_some());
            output.print(&found, |found| wrong(found));
            Ok(if found.is_empty() { 0 } else { WRONG })
        }
    }
}

const NONE: &str = "no secret is stored or configured\n";

fn list(found: &[SecretShown]) -> String {
    if found.is_empty() {
        return NONE.into();
    }
    let cells: Vec<_> = found.iter().map(|one| [one.name.clone(), one.source.clone(), one.place.clone()]).collect();
    layout(["NAME", "SOURCE", "WHERE"], &cells)
}

fn status(found: &[SecretShown]) -> String {
    if found.is_empty() {
        return NONE.into();
    }
    let cell = |one: &SecretShown| {
        let expires = one.expires.map_or_else(|| "-".to_owned(), |at| at.to_string());
        let length = one.length.clone().unwrap_or_else(|| "-".to_owned());
        [one.name.clone(), one.state.clone(), length, expires, one.place.clone()]
    };
    layout(["NAME", "STATE", "LENGTH", "ENDS", "WHERE"], &found.iter().map(cell).collect::<Vec<_>>())
}

fn wrong(found: &[SecretShown]) -> String {
    if found.is_empty() {
        return "every secret can be used\n".into();
    }
    let line = |one: &SecretShown| {
        let what = &one.state;
        let help = one.help.as_deref().unwrap_or_default();
        format!("{}: {what}, {}\nhelp: {help}\n", one.name, one.place)
    };
    found.iter().map(line).collect()
}
